/** Tests the watchdog that ends a shutdown that takes too long. */
import { stopOnSignals } from '../../../src/commands/stopSignal';

test('the first signal aborts, and a shutdown of more than 12 s ends the process with exit code 1', () => {
  jest.useFakeTimers();
  const exit = jest.spyOn(process, 'exit').mockImplementation((() => undefined) as () => never);
  const write = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  // Hides the channel of the jest worker to its parent, because jest's copy of the process object cannot use the
  // channel.
  const channel = Object.getOwnPropertyDescriptor(process, 'channel');
  Object.defineProperty(process, 'channel', { value: undefined, configurable: true });
  try {
    const signal = stopOnSignals();
    expect(signal.aborted).toBe(false);
    process.emit('SIGTERM');
    process.emit('SIGINT');
    expect(signal.reason).toEqual(new Error('stopped by SIGTERM'));
    jest.advanceTimersByTime(11_999);
    expect(exit).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(exit).toHaveBeenCalledWith(1);
    expect(write).toHaveBeenCalledWith(expect.stringContaining('the shutdown took more than 12 s'));
  } finally {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const)
      process.removeAllListeners(name);
    if (channel === undefined) Reflect.deleteProperty(process, 'channel');
    else Object.defineProperty(process, 'channel', channel);
    exit.mockRestore();
    write.mockRestore();
    jest.useRealTimers();
  }
});
