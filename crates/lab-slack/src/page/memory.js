// What survives a reload: who, where, drafts, light or dark. A browser that keeps nothing is no reason to fail.

const PREFIX = 'ghost-slack ';
const MOST_DRAFTS = 200;

/** Returns get and put over the browser's storage. */
export function memory() {
  const gone = new Map();
  const store = (() => { try { return window.localStorage; } catch { return null; } })();
  return {
    get(key) {
      try { return store?.getItem(PREFIX + key) ?? gone.get(key) ?? null; } catch { return gone.get(key) ?? null; }
    },
    put(key, value) {
      gone.set(key, value);
      try {
        if (value === '' || value === null) store?.removeItem(PREFIX + key);
        else store?.setItem(PREFIX + key, String(value).slice(0, 40000));
        const drafts = Object.keys(store ?? {}).filter((name) => name.startsWith(`${PREFIX}draft `));
        drafts.slice(0, Math.max(0, drafts.length - MOST_DRAFTS)).forEach((name) => store.removeItem(name));
      } catch { /* full or forbidden: the page works without */ }
    },
  };
}
