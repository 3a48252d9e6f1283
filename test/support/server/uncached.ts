/** An answer cache that stores nothing, so that each answer is computed. */
import type { ByteCache } from '../../../src/api/byteCache';
import { etagOf } from '../../../src/api/etag';

export const UNCACHED: ByteCache = {
  async get(_key, make) {
    const body = Buffer.from(JSON.stringify(await make()));
    return { body, etag: etagOf(body) };
  },
  forgetAll: () => undefined,
};
