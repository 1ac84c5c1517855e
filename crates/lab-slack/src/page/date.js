// Slack's date formats, and the times beside messages.

const part = (date, options) => new Intl.DateTimeFormat('en-US', options).format(date);
const day = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();

/** Says how far a day is from today in a word, or nothing. */
function near(date, now) {
  const days = Math.round((day(date) - day(now)) / 86400000);
  return { '-1': 'yesterday', 0: 'today', 1: 'tomorrow' }[days];
}

function ordinal(number) {
  const tens = number % 100;
  if (tens > 10 && tens < 14) return `${number}th`;
  return `${number}${{ 1: 'st', 2: 'nd', 3: 'rd' }[number % 10] ?? 'th'}`;
}

const FORMS = {
  date_num: (d) => `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, '0')}-${String(d.getDate()).padStart(2, '0')}`,
  date_slash: (d) => part(d, { year: 'numeric', month: '2-digit', day: '2-digit' }),
  date: (d) => `${part(d, { month: 'long' })} ${ordinal(d.getDate())}, ${d.getFullYear()}`,
  date_short: (d) => part(d, { month: 'short', day: 'numeric', year: 'numeric' }),
  date_long: (d) => `${part(d, { weekday: 'long' })}, ${part(d, { month: 'long' })} ${ordinal(d.getDate())}, ${d.getFullYear()}`,
  date_long_full: (d) => part(d, { month: 'long', day: 'numeric', year: 'numeric' }),
  time: (d) => part(d, { hour: 'numeric', minute: '2-digit' }),
  time_secs: (d) => part(d, { hour: 'numeric', minute: '2-digit', second: '2-digit' }),
};

/** Says how long ago something was. */
export function ago(date, now = new Date()) {
  const seconds = Math.round((now - date) / 1000);
  const size = Math.abs(seconds);
  const [unit, length] = size < 60 ? ['second', 1] : size < 3600 ? ['minute', 60] : size < 86400 ? ['hour', 3600] : ['day', 86400];
  return new Intl.RelativeTimeFormat('en-US', { numeric: 'auto' }).format(-Math.round(seconds / length), unit);
}

/** Fills the tokens of a format; an unknown token stays as it is. */
export function formatDate(seconds, format, fallback = '', now = new Date()) {
  const date = new Date(seconds * 1000);
  if (!Number.isFinite(date.getTime())) return fallback;
  return String(format).slice(0, 1000).replace(/\{([a-z_]{1,30})\}/g, (whole, token) => {
    if (token === 'ago') return ago(date, now);
    if (token === 'day_divider_pretty') return near(date, now) ?? FORMS.date_long(date);
    const pretty = token.endsWith('_pretty');
    const form = FORMS[pretty ? token.slice(0, -7) : token];
    return (pretty && form && near(date, now)) || (form ? form(date) : whole);
  });
}

/** The moment of a message. */
export const moment = (ts) => new Date(Number(ts) * 1000);

/** The time beside a message. */
export const clock = (ts) => FORMS.time(moment(ts));

/** The line between two days. */
export function dayLine(ts, now = new Date()) {
  const date = moment(ts);
  const word = near(date, now);
  return word ? word[0].toUpperCase() + word.slice(1) : FORMS.date_long(date).replace(/, \d{4}$/, '');
}

/** Whether two messages are of one day. */
export const sameDay = (one, other) => day(moment(one)) === day(moment(other));
