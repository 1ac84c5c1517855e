// The short names of the emoji that people use most. A name that is not here is shown as it is written.

const TABLE = `
+1 👍 thumbsup 👍 -1 👎 thumbsdown 👎 100 💯 alarm_clock ⏰ alien 👽 ambulance 🚑 anchor ⚓ angry 😠 apple 🍎 arrow_down ⬇️
arrow_left ⬅️ arrow_right ➡️ arrow_up ⬆️ arrows_counterclockwise 🔄 art 🎨 baby 👶 balloon 🎈 bangbang ‼️ bar_chart 📊
battery 🔋 beer 🍺 beers 🍻 bell 🔔 bike 🚲 birthday 🎂 black_circle ⚫ blue_heart 💙 blush 😊 bomb 💣 book 📖 bookmark 🔖
books 📚 boom 💥 bow 🙇 brain 🧠 broken_heart 💔 bug 🐛 bulb 💡 cactus 🌵 cake 🍰 calendar 📅 camera 📷 cat 🐱
chart_with_downwards_trend 📉 chart_with_upwards_trend 📈 clap 👏 clipboard 📋 closed_lock_with_key 🔐 cloud ☁️ coffee ☕
computer 💻 confetti_ball 🎊 confused 😕 construction 🚧 cool 🆒 cry 😢 crossed_fingers 🤞 crown 👑 dart 🎯 dizzy 💫 dog 🐶
earth_africa 🌍 earth_americas 🌎 earth_asia 🌏 email ✉️ envelope ✉️ exclamation ❗ eyes 👀 face_with_monocle 🧐 fire 🔥
fire_engine 🚒 flag-us 🇺🇸 floppy_disk 💾 frowning ☹️ gear ⚙️ gem 💎 ghost 👻 gift 🎁 globe_with_meridians 🌐 grin 😁
grinning 😀 green_heart 💚 hammer 🔨 hammer_and_wrench 🛠️ handshake 🤝 hash #️⃣ heart ❤️ heart_eyes 😍
heavy_check_mark ✔️ heavy_minus_sign ➖ heavy_plus_sign ➕ heavy_multiplication_x ✖️ hourglass ⌛
hourglass_flowing_sand ⏳ house 🏠 hugging_face 🤗 hugs 🤗 inbox_tray 📥 information_source ℹ️ joy 😂 key 🔑 keyboard ⌨️
kissing_heart 😘 label 🏷️ large_blue_circle 🔵 large_green_circle 🟢 large_orange_circle 🟠 large_red_square 🟥
large_yellow_circle 🟡 laughing 😆 left_right_arrow ↔️ link 🔗 lock 🔒 loudspeaker 📢 mag 🔍 mag_right 🔎 mailbox 📫
male-detective 🕵️ mega 📣 memo 📝 microscope 🔬 milky_way 🌌 money_with_wings 💸 moneybag 💰 moon 🌙 muscle 💪 mute 🔇
neutral_face 😐 new 🆕 no_entry ⛔ no_entry_sign 🚫 notebook 📓 ocean 🌊 ok 🆗 ok_hand 👌 open_hands 👐 outbox_tray 📤
package 📦 page_facing_up 📄 paperclip 📎 partying_face 🥳 pencil 📝 pencil2 ✏️ pensive 😔 phone ☎️ pizza 🍕 point_down 👇
point_left 👈 point_right 👉 point_up ☝️ police_car 🚓 pray 🙏 purple_heart 💜 pushpin 📌 question ❓ rabbit 🐰
raised_hand ✋ raised_hands 🙌 rainbow 🌈 recycle ♻️ red_circle 🔴 relaxed ☺️ relieved 😌 robot_face 🤖 rocket 🚀
rofl 🤣 rotating_light 🚨 runner 🏃 satellite 🛰️ satellite_antenna 📡 scream 😱 scroll 📜 see_no_evil 🙈 seedling 🌱
shield 🛡️ ship 🚢 shrug 🤷 skull 💀 sleeping 😴 slightly_smiling_face 🙂 smile 😄 smiley 😃 smirk 😏 snail 🐌 snowflake ❄️
sob 😭 sparkles ✨ speech_balloon 💬 star ⭐ star2 🌟 stop_sign 🛑 stopwatch ⏱️ sun_with_face 🌞 sunglasses 😎 sunny ☀️
sweat 😓 sweat_smile 😅 tada 🎉 telephone ☎️ telephone_receiver 📞 test_tube 🧪 thinking_face 🤔 thought_balloon 💭
ticket 🎫 timer_clock ⏲️ tired_face 😫 toolbox 🧰 train 🚆 tree 🌳 triangular_flag_on_post 🚩 trophy 🏆 turtle 🐢
twisted_rightwards_arrows 🔀 umbrella ☂️ unamused 😒 unlock 🔓 upside_down_face 🙃 vertical_traffic_light 🚦 v ✌️
warning ⚠️ wastebasket 🗑️ watch ⌚ wave 👋 white_check_mark ✅ white_circle ⚪ wink 😉 worried 😟 wrench 🔧
writing_hand ✍️ x ❌ yellow_heart 💛 yum 😋 zap ⚡ zipper_mouth_face 🤐 zzz 💤 one 1️⃣ two 2️⃣ three 3️⃣ four 4️⃣ five 5️⃣
six 6️⃣ seven 7️⃣ eight 8️⃣ nine 9️⃣ zero 0️⃣ ballot_box_with_check ☑️ heavy_exclamation_mark ❗ grey_question ❔
double_vertical_bar ⏸️ black_square_for_stop ⏹️ arrow_forward ▶️ fast_forward ⏩ rewind ⏪ repeat 🔁 small_blue_diamond 🔹
small_orange_diamond 🔸 large_blue_diamond 🔷 large_green_square 🟩 large_yellow_square 🟨 black_small_square ▪️
`;

const words = TABLE.trim().split(/\s+/);
const NAMES = new Map();
for (let at = 0; at + 1 < words.length; at += 2) NAMES.set(words[at], words[at + 1]);

/** Returns the character of a name, or nothing. */
export const emojiOf = (name) => NAMES.get(name);

/** The names that begin with these letters, a few. */
export const emojiNames = (start, most = 8) => [...NAMES.keys()].filter((name) => name.startsWith(start)).slice(0, most);

/** What is offered as a reaction without searching. */
export const QUICK = ['+1', 'white_check_mark', 'eyes', 'tada', 'heart', 'joy', 'pray', 'rocket'];
