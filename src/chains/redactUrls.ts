/** Hides what must not reach a message or a log: passwords in URLs, and the keys that node providers put into paths. */

const SHOWN_MAX = 80;
/** Longer texts that are no URL may hold a key. */
const UNPARSED_SHOWN_MAX = 24;

/** Of each URL in a comma list the scheme and host alone, cut short. Text that is no URL is shown only if harmless. */
export function redactUrls(text: string): string {
  // With a password about, what cannot be taken apart may be a piece of it.
  const shownMax = text.includes('@') ? 0 : UNPARSED_SHOWN_MAX;
  const parts = text.split(',').map((part) => redactUrl(part.trim(), shownMax));
  return shorten(parts.join(','));
}

function redactUrl(text: string, shownMax: number): string {
  if (text.includes('://') && URL.canParse(text)) {
    const { protocol, host, pathname, search, username } = new URL(text);
    const hidden = username !== '' || search !== '' || pathname.length > 1;
    return `${protocol}//${host}${hidden ? '/…' : ''}`;
  }
  return text.length > shownMax || /[?=]/.test(text) ? `… (${text.length} characters)` : text;
}

/** The beginning of a text that is too long for a message. */
export function shorten(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
