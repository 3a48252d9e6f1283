/**
 * Ready answers by query and head version: each is made once however many ask for it at the same time, and kept as
 * bytes while there is room. A new head version makes new keys; what changes without one is said by `forgetAll`.
 */
import { LRUCache } from 'lru-cache';

import { steadyNow } from '../domain/steadyTime';
import { etagOf } from './etag';
import { toJsonBody } from './jsonBody';

const BYTES_MAX = 24 * 1024 * 1024;
/**
 * Longer JSON is kept, as bytes, from the second time on that it is asked for; who asks first has the text. After every
 * 32 MB of buffers V8 looks through the whole heap, which held up one page of 1,000 logs in 30 by 15 ms.
 */
const LARGE = 256 * 1024;
/** Large answers whose keys are remembered. */
const LARGE_KEYS_MAX = 500;

export interface CachedAnswer {
  readonly body: Buffer | string;
  readonly etag: string;
}

export interface ByteCache {
  /**
   * The answer of a key, made by `make` when it is not there: bytes as they are, all else as JSON. An error is given to
   * all who wait and is not kept. `keepMs`: how long this answer is kept at most; null: as long as there is room.
   */
  get<T>(key: string, make: () => Promise<T>, keepMs?: (answer: T) => number | null): Promise<CachedAnswer>;
  /** Whoever asks from now on has an answer that was begun from now on. */
  forgetAll(): void;
}

export interface ByteCacheOptions {
  /** How much is kept, default 24 MiB. */
  readonly bytesMax?: number;
  /** Milliseconds that never go back. */
  readonly now?: () => number;
}

export function createByteCache(options: ByteCacheOptions = {}): ByteCache {
  const bytesMax = options.bytesMax ?? BYTES_MAX;
  const kept = new LRUCache<string, CachedAnswer>({
    maxSize: bytesMax,
    perf: { now: options.now ?? steadyNow },
    ttlResolution: 0,
    sizeCalculation: (answer, key) => answer.body.length + key.length + 1,
  });
  const large = new LRUCache<string, true>({ max: LARGE_KEYS_MAX });
  const underWay = new Map<string, Promise<CachedAnswer>>();
  let era = 0;
  const make = async <T>(
    key: string,
    run: () => Promise<T>,
    keepMs?: (answer: T) => number | null,
  ): Promise<CachedAnswer> => {
    const begun = era;
    const made = await run();
    const whole = Buffer.isBuffer(made) ? { body: made, etag: etagOf(made) } : await toJsonBody(made);
    if (typeof whole.body === 'string' && whole.body.length > LARGE && !large.has(key)) {
      large.set(key, true);
      return whole;
    }
    const body = typeof whole.body === 'string' ? Buffer.from(whole.body) : whole.body;
    const answer = { body, etag: whole.etag };
    const ttl = keepMs?.(made) ?? null;
    if (body.length < bytesMax && begun === era) kept.set(key, answer, ttl === null ? {} : { ttl });
    return answer;
  };
  return {
    get(key, run, keepMs) {
      const known = kept.get(key);
      if (known !== undefined) return Promise.resolve(known);
      const running = underWay.get(key);
      if (running !== undefined) return running;
      const started = make(key, run, keepMs).finally(() => {
        if (underWay.get(key) === started) underWay.delete(key);
      });
      underWay.set(key, started);
      return started;
    },
    forgetAll() {
      era += 1;
      kept.clear();
      underWay.clear();
    },
  };
}
