/**
 * Cache of serialised answers by query and head version. Concurrent requests for one key share one
 * computation. A new head version makes new keys. `forgetAll` clears the cache when data changes within one
 * head version.
 */
import { LRUCache } from 'lru-cache';

import { steadyNow } from '../domain/time/steadyTime';
import { etagOf } from './etag';
import { toJsonBody } from './jsonBody';

const BYTES_MAX = 24 * 1024 * 1024;
/**
 * A JSON text longer than this is cached only from the second request on, because caching allocates a buffer. If
 * every long text allocated one, V8 would often scan the whole heap: it does so after each 32 MB of buffers.
 * Answers that `toJsonBody` returns as bytes are cached at the first request.
 */
const LARGE_CHARS = 256 * 1024;
/** Number of large answers whose keys are remembered, to recognise the second request for one. */
const LARGE_KEYS_MAX = 500;

interface CachedAnswer {
  readonly body: Buffer | string;
  readonly etag: string;
}

export interface ByteCache {
  /**
   * Returns the answer for a key, and calls `make` if the key is not cached. Buffers are stored unchanged, other
   * values as JSON. If `make` fails, every waiting caller gets the error, and nothing is cached. `keepMs` is the
   * longest time in the cache; null means no limit.
   */
  get<T>(key: string, make: () => Promise<T>, keepMs?: (answer: T) => number | null): Promise<CachedAnswer>;
  /** Drops all answers. Later calls do not wait for computations that started earlier. */
  forgetAll(): void;
}

interface ByteCacheOptions {
  /** Size limit of the cache in bytes, by default 24 MiB. */
  readonly bytesMax?: number;
  /** Monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

export function createByteCache(options: ByteCacheOptions = {}): ByteCache {
  const bytesMax = options.bytesMax ?? BYTES_MAX;
  const keptAnswers = new LRUCache<string, CachedAnswer>({
    maxSize: bytesMax,
    perf: { now: options.now ?? steadyNow },
    ttlResolution: 0,
    sizeCalculation: (answer, key) => answer.body.length + key.length + 1,
  });
  const largeKeys = new LRUCache<string, true>({ max: LARGE_KEYS_MAX });
  const runningByKey = new Map<string, Promise<CachedAnswer>>();
  let cacheEra = 0;
  const make = async <T>(
    key: string,
    makeAnswer: () => Promise<T>,
    keepMs?: (answer: T) => number | null,
  ): Promise<CachedAnswer> => {
    const eraAtStart = cacheEra;
    const answerValue = await makeAnswer();
    const encoded = Buffer.isBuffer(answerValue)
      ? { body: answerValue, etag: etagOf(answerValue) }
      : await toJsonBody(answerValue);
    if (typeof encoded.body === 'string' && encoded.body.length > LARGE_CHARS && !largeKeys.has(key)) {
      largeKeys.set(key, true);
      return encoded;
    }
    const body = typeof encoded.body === 'string' ? Buffer.from(encoded.body) : encoded.body;
    const answer = { body, etag: encoded.etag };
    const keptMs = keepMs?.(answerValue) ?? null;
    if (body.length < bytesMax && eraAtStart === cacheEra)
      keptAnswers.set(key, answer, keptMs === null ? {} : { ttl: keptMs });
    return answer;
  };
  return {
    get(key, run, keepMs) {
      const cachedAnswer = keptAnswers.get(key);
      if (cachedAnswer !== undefined) return Promise.resolve(cachedAnswer);
      const runningAnswer = runningByKey.get(key);
      if (runningAnswer !== undefined) return runningAnswer;
      const work = make(key, run, keepMs).finally(() => {
        if (runningByKey.get(key) === work) runningByKey.delete(key);
      });
      runningByKey.set(key, work);
      return work;
    },
    forgetAll() {
      cacheEra += 1;
      keptAnswers.clear();
      runningByKey.clear();
    },
  };
}
