/** Splits long work into tasks, so that the browser paints and answers input between them. */

/** Hidden pages draw no frames. The work of such a page goes on after this time. */
const FRAME_MS_MAX = 200;

/** Resolves in a new task. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** Resolves in a new task after the next frame, which shows what the page has changed before. */
export function afterPaint(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, FRAME_MS_MAX);
    requestAnimationFrame(() => setTimeout(resolve));
  });
}
