/** One AbortSignal for SIGINT, SIGTERM and SIGHUP. The first signal aborts the AbortSignal; further signals
 * are ignored. */

/**
 * Longest time in ms for a shutdown. A shutdown usually takes less than 2 s. The documents promise at most 10
 * s, and Docker kills the process after 15 s.
 */
const SHUTDOWN_MS = 12_000;

/** Ends the process if a shutdown hangs. Its child processes then notice that it is gone, and end too. */
function watchShutdown(): void {
  const watchdog = setTimeout(() => {
    process.stderr.write(
      `candlehouse: the shutdown took more than ${SHUTDOWN_MS / 1_000} s; ending without it\n`,
    );
    process.exit(1);
  }, SHUTDOWN_MS);
  watchdog.unref();
}

/** Aborts on the first SIGINT, SIGTERM or SIGHUP, and when the parent process exits. */
export function stopOnSignals(): AbortSignal {
  const controller = new AbortController();
  const stop = (reason: string): void => {
    if (controller.signal.aborted) return;
    watchShutdown();
    controller.abort(new Error(reason));
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => stop(`stopped by ${name}`));
  process.on('disconnect', () => stop('stopped: the parent process has exited'));
  // The IPC channel to the parent must not keep the process running.
  process.channel?.unref();
  return controller.signal;
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
