/**
 * Recovers the senders of many transactions in worker threads, ahead of a proof that compares them. A sender takes 0.3 ms,
 * which is most of the time of a proof. A sender that is missing here is recovered by the proof itself.
 */
import { availableParallelism } from 'node:os';

import { TaskThread } from '../../domain/threads/taskThread';
import { createSlices } from '../../domain/time/slices';
import type { Keccak } from './keccak';
import { addressOfKey, readSignature, type Signature } from './recoverSender';

const HASH_BYTES = 32;
const NUMBERS_BYTES = 64;
/** Bytes of a task for one signature: hash, numbers, parity. */
const TASK_BYTES = HASH_BYTES + NUMBERS_BYTES + 1;
/** Bytes of an uncompressed key. The first byte is 4; it is 0 if no key was found. */
const KEY_BYTES = 65;
const THREADS_MAX = 8;

const SCRIPT = `
const { recover } = require(workerData.library);
const work = (tasks) => {
  const count = tasks.length / ${TASK_BYTES};
  const keys = new Uint8Array(${KEY_BYTES} * count);
  for (let at = 0; at < count; at += 1) {
    const task = tasks.subarray(${TASK_BYTES} * at, ${TASK_BYTES} * (at + 1));
    const [hash, numbers] = [task.subarray(0, ${HASH_BYTES}), task.subarray(${HASH_BYTES}, ${TASK_BYTES - 1})];
    try {
      const key = recover(hash, numbers, task[${TASK_BYTES - 1}], false);
      if (key !== null) keys.set(key, ${KEY_BYTES} * at);
    } catch {}
  }
  return keys;
};`;

export class SenderThreads {
  private readonly threads = new Set<TaskThread>();

  constructor(
    private readonly keccak: Keccak,
    count = Math.min(THREADS_MAX, Math.max(1, availableParallelism() - 1)),
  ) {
    const library = require.resolve('tiny-secp256k1');
    for (let index = 0; index < count; index += 1) {
      const thread: TaskThread = new TaskThread(SCRIPT, { library }, () => this.threads.delete(thread));
      this.threads.add(thread);
    }
  }

  /** The senders of encoded transactions, by their bytes. Those with an invalid signature are missing. */
  async recover(transactions: readonly Uint8Array[]): Promise<ReadonlyMap<Uint8Array, string>> {
    const signed: { readonly encoded: Uint8Array; readonly signature: Signature }[] = [];
    const slices = createSlices();
    for (const encoded of transactions) {
      const signature = this.tryRead(encoded);
      if (signature !== null) signed.push({ encoded, signature });
      if (slices.isOver()) await slices.giveWay();
    }
    const senders = new Map<Uint8Array, string>();
    const threads = [...this.threads];
    const shareSize = Math.ceil(signed.length / threads.length);
    const recoverShare = async (thread: TaskThread, index: number): Promise<void> => {
      const threadShare = signed.slice(index * shareSize, (index + 1) * shareSize);
      if (threadShare.length === 0) return;
      const keys = await thread.run(pack(threadShare.map(({ signature }) => signature))).catch(() => null);
      if (!(keys instanceof Uint8Array)) return;
      for (const [index, { encoded }] of threadShare.entries()) {
        const key = keys.subarray(KEY_BYTES * index, KEY_BYTES * (index + 1));
        if (key[0] !== 0) senders.set(encoded, addressOfKey(key, this.keccak));
      }
    };
    await Promise.all(threads.map(recoverShare));
    return senders;
  }

  async close(): Promise<void> {
    await Promise.all([...this.threads].map((thread) => thread.end()));
  }

  private tryRead(encoded: Uint8Array): Signature | null {
    try {
      return readSignature(encoded, this.keccak);
    } catch {
      // The proof reads the bytes again, and names the fault.
      return null;
    }
  }
}

function pack(signatures: readonly Signature[]): Uint8Array {
  const tasks = new Uint8Array(TASK_BYTES * signatures.length);
  for (const [index, { hash, numbers, parity }] of signatures.entries()) {
    tasks.set(hash, TASK_BYTES * index);
    tasks.set(numbers, TASK_BYTES * index + HASH_BYTES);
    tasks[TASK_BYTES * index + TASK_BYTES - 1] = parity;
  }
  return tasks;
}
