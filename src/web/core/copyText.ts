/**
 * Copies a text to the clipboard. Browsers offer navigator.clipboard only over HTTPS and on localhost. Over plain HTTP,
 * the text is copied from a selected field.
 */

/** Whether the text was copied. Must run in the handler of a click. */
export async function copyText(text: string): Promise<boolean> {
  // By its type, the clipboard always exists.
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard === undefined) return copyFromField(text);
  try {
    await clipboard.writeText(text);
    return true;
  } catch {
    return copyFromField(text);
  }
}

function copyFromField(text: string): boolean {
  const focusedElement = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'visually-hidden';
  field.readOnly = true;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focusedElement instanceof HTMLElement) focusedElement.focus({ preventScroll: true });
  return isCopied;
}
