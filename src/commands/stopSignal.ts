/** One AbortSignal for SIGINT and SIGTERM: the first asks everything to drain, further ones are ignored. */

/** Aborts on the first SIGINT, SIGTERM or SIGHUP of this process, and when the program that handed over to it is gone. */
export function stopOnSignals(): AbortSignal {
  const controller = new AbortController();
  const stop = (reason: string): void => {
    if (!controller.signal.aborted) controller.abort(new Error(reason));
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => stop(`stopped by ${name}`));
  process.on('disconnect', () => stop('stopped: the program that started it is gone'));
  // Listening alone would keep the process running.
  process.channel?.unref();
  return controller.signal;
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
