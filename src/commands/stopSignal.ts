/** One AbortSignal for SIGINT, SIGTERM and SIGHUP. The first signal aborts the AbortSignal; further signals
 * are ignored. */

/** Aborts on the first SIGINT, SIGTERM or SIGHUP, and when the parent process exits. */
export function stopOnSignals(): AbortSignal {
  const controller = new AbortController();
  const stop = (reason: string): void => {
    if (!controller.signal.aborted) controller.abort(new Error(reason));
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => stop(`stopped by ${name}`));
  process.on('disconnect', () => stop('stopped: the parent process has exited'));
  // The IPC channel to the parent must not keep the process running.
  process.channel?.unref();
  return controller.signal;
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
