/** A worker thread that runs a script: one task after another, each with one answer. An idle thread keeps no process alive. */
import { Worker } from 'node:worker_threads';

import { z } from 'zod';

const answerShape = z.object({ id: z.int(), result: z.unknown() });

interface WaitingTask {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class TaskThread {
  private readonly worker: Worker;
  private readonly waitingTasks = new Map<number, WaitingTask>();
  private nextId = 1;

  /**
   * `script` is plain JavaScript, because the tests have no compiled file that a thread could load. It defines `work`, a
   * function of a task, and may use `workerData`. `onEnd` is called if the thread ends. The waiting tasks then fail.
   */
  constructor(script: string, workerData: unknown, onEnd: () => void) {
    const listening = `
const { parentPort, workerData } = require('node:worker_threads');
${script}
parentPort.on('message', async ({ id, task }) => parentPort.postMessage({ id, result: await work(task) }));`;
    this.worker = new Worker(listening, { eval: true, workerData });
    this.worker.unref();
    this.worker.on('message', (message: unknown) => {
      const { id, result } = answerShape.parse(message);
      this.waitingTasks.get(id)?.resolve(result);
      this.waitingTasks.delete(id);
      if (this.waitingTasks.size === 0) this.worker.unref();
    });
    const failAll = (error: Error): void => {
      onEnd();
      for (const { reject } of this.waitingTasks.values()) reject(error);
      this.waitingTasks.clear();
    };
    this.worker.on('error', failAll);
    this.worker.on('exit', () => failAll(new Error('a thread has ended')));
  }

  run(task: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
      this.waitingTasks.set(id, { resolve, reject });
      this.worker.ref();
      this.worker.postMessage({ id, task });
    });
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }
}
