/** One AbortSignal for SIGINT and SIGTERM: the first asks everything to drain, further ones are ignored. */

/** Aborts on the first SIGINT, SIGTERM or SIGHUP of this process. */
export function stopOnSignals(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (!controller.signal.aborted) controller.abort(new Error(`stopped by ${name}`));
    });
  }
  return controller.signal;
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
