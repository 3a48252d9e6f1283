/**
 * Reads and writes small JSON values in localStorage. Anybody who can open the developer tools can store anything there,
 * so a caller checks what it reads.
 */

/** Longest stored text that is read or written, in characters. */
export const STORED_MAX = 64 * 1024;

/** The stored value; null if the key has no value, the value is too long or no JSON, or storage is not allowed. */
export function readStored(key: string): unknown {
  try {
    return parseJson(localStorage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

/** Without storage, a choice lasts until the user leaves the page. */
export function writeStored(key: string, value: unknown): void {
  const text = JSON.stringify(value);
  if (text.length > STORED_MAX) return;
  try {
    localStorage.setItem(key, text);
  } catch {
    // Storage is not allowed or full.
  }
}

/** Parses JSON of limited length; null if the text is longer or no JSON. */
export function parseJson(text: string): unknown {
  if (text.length > STORED_MAX) return null;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return null;
  }
}

/** The field of an unknown value; undefined if the value is no object, or has no such field of its own. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  const field: unknown = Reflect.get(value, name);
  return field;
}

const ADDRESS = /^0x[0-9a-f]{40}$/;

export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && ADDRESS.test(value);
}

/** Whether the value is the address of a pool, or the id of a pool without a contract. */
export function isPool(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{40}([0-9a-f]{24})?$/.test(value);
}
