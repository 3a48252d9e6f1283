/** Hides secrets from messages and logs: passwords in URLs, and API keys in URL paths. */

const MESSAGE_LENGTH_MAX = 80;
/** A longer text that is no URL may contain a key and is not shown. */
const UNPARSED_SHOWN_MAX = 24;

/**
 * Reduces each URL in a comma-separated list to scheme and host, shortened. Other texts are shown only if
 * they cannot contain a key.
 */
export function redactUrls(text: string): string {
  // If the text contains an @, any part that is not a URL may be a piece of a password.
  const shownMax = text.includes('@') ? 0 : UNPARSED_SHOWN_MAX;
  const parts = text.split(',').map((part) => redactUrl(part.trim(), shownMax));
  return shorten(parts.join(','));
}

function redactUrl(text: string, shownMax: number): string {
  if (text.includes('://') && URL.canParse(text)) {
    const { protocol, host, pathname, search, username } = new URL(text);
    const hasHiddenPart = username !== '' || search !== '' || pathname.length > 1;
    return `${protocol}//${host}${hasHiddenPart ? '/…' : ''}`;
  }
  return text.length > shownMax || /[?=]/.test(text) ? `… (${text.length} characters)` : text;
}

/** Shortens a text for a message. */
export function shorten(text: string): string {
  return text.length > MESSAGE_LENGTH_MAX ? `${text.slice(0, MESSAGE_LENGTH_MAX)}…` : text;
}
