/**
 * Token metadata for events, whose readers must not ask the database for the same tokens with every block and page. What a
 * token says of itself hardly ever changes: one that was read again (`reindex`) shows a minute later at most.
 */
import { LRUCache } from 'lru-cache';

import type { QueryRunner } from '../clickhouse/namedQueries';
import type { Token } from '../wire/primitives';
import { listTokens, type TokenMap } from './tokens';

const TOKENS_KEPT = 20_000;
const KEPT_MS = 60_000;

export class TokenMemory {
  private readonly kept = new LRUCache<string, Token>({ max: TOKENS_KEPT, ttl: KEPT_MS });

  constructor(private readonly runner: QueryRunner) {}

  /** As listTokens. A token that is not known yet is asked for each time. */
  async list(addresses: readonly string[]): Promise<TokenMap> {
    const found = new Map<string, Token>();
    const missing: string[] = [];
    for (const address of new Set(addresses)) {
      const token = this.kept.get(address);
      if (token === undefined) missing.push(address);
      else found.set(address, token);
    }
    for (const [address, token] of await listTokens(this.runner, missing)) {
      this.kept.set(address, token);
      found.set(address, token);
    }
    return found;
  }
}
