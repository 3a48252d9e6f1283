/**
 * Cache of serialized answers by query and head version. Concurrent requests for one key share one computation. A new
 * head version makes new keys; `forgetAll` handles data that changes within one head version.
 */
import { LRUCache } from 'lru-cache';

import { steadyNow } from '../domain/steadyTime';
import { etagOf } from './etag';
import { toJsonBody } from './jsonBody';

const BYTES_MAX = 24 * 1024 * 1024;
/**
 * JSON text longer than this is cached only from the second request on; the first client gets the uncached text.
 * Caching every such text would allocate many buffers, and V8 scans the whole heap after each 32 MB of buffers.
 * Answers that `toJsonBody` returns as bytes are cached at once.
 */
const LARGE = 256 * 1024;
/** Number of large answers whose keys are remembered. */
const LARGE_KEYS_MAX = 500;

interface CachedAnswer {
  readonly body: Buffer | string;
  readonly etag: string;
}

export interface ByteCache {
  /**
   * Returns the answer for a key, and calls `make` if the key is not cached. Buffers are stored as they are, other
   * values as JSON. An error goes to every waiting caller and is not cached. `keepMs`: longest time in the cache;
   * null: no limit.
   */
  get<T>(key: string, make: () => Promise<T>, keepMs?: (answer: T) => number | null): Promise<CachedAnswer>;
  /** Drops all answers. Later calls do not join computations that started before. */
  forgetAll(): void;
}

interface ByteCacheOptions {
  /** Size limit in bytes, default 24 MiB. */
  readonly bytesMax?: number;
  /** Monotonic clock, ms. */
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
