/**
 * Ready answers by query and head version: each is made once however many ask for it at the same time, and kept as
 * bytes while there is room. A new head version makes new keys, so nothing ever needs to be invalidated.
 */
import { LRUCache } from 'lru-cache';

import { etagOf } from './etag';

const BYTES_MAX = 48 * 1024 * 1024;

export interface CachedAnswer {
  readonly body: Buffer;
  readonly etag: string;
}

export interface ByteCache {
  /** The answer of a key, made by `make` when it is not there. An error is given to all who wait and is not kept. */
  get(key: string, make: () => Promise<unknown>): Promise<CachedAnswer>;
}

/** `bytesMax`: how much is kept, default 48 MiB. */
export function createByteCache(options: { readonly bytesMax?: number } = {}): ByteCache {
  const bytesMax = options.bytesMax ?? BYTES_MAX;
  const kept = new LRUCache<string, CachedAnswer>({
    maxSize: bytesMax,
    sizeCalculation: (answer, key) => answer.body.length + key.length + 1,
  });
  const underWay = new Map<string, Promise<CachedAnswer>>();
  const make = async (key: string, run: () => Promise<unknown>): Promise<CachedAnswer> => {
    const body = Buffer.from(JSON.stringify(await run()));
    const answer = { body, etag: etagOf(body) };
    if (body.length < bytesMax) kept.set(key, answer);
    return answer;
  };
  return {
    get(key, run) {
      const known = kept.get(key);
      if (known !== undefined) return Promise.resolve(known);
      const running = underWay.get(key);
      if (running !== undefined) return running;
      const started = make(key, run).finally(() => underWay.delete(key));
      underWay.set(key, started);
      return started;
    },
  };
}
