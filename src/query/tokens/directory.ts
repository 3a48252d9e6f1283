/**
 * Keeps the metadata of tokens and all final pools in memory. A final pool never changes. The ingester stores a
 * token's metadata before the first row with this token, and again when the contract gives other metadata.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { u64, wideU64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import type { Token } from '../../wire/primitives';
import type { HeadSnapshot } from '../head/headSnapshot';
import { findPool, tokensOfPool, type StoredPool } from '../pairs/pools';
import { listTokens, type TokenMap } from './tokens';

/** Largest number of pools in the cache. At this number the whole cache is cleared. */
const POOLS_KEPT = 20_000;

/** The row of mark_tokens.sql. It changes with every write of token metadata. */
const markRow = rowType({ table_rows: u64, version_sum: wideU64 });

interface PoolWithTokens {
  readonly pool: StoredPool;
  readonly tokens: TokenMap;
}

export class Directory {
  private readonly poolByAddress = new Map<Hex, { readonly pool: StoredPool; readonly finalTo: number }>();
  private tokenByAddress = new Map<string, Token>();
  private lastMark: string | null = null;

  constructor(private readonly runner: QueryRunner) {}

  /** The pool at an address with its tokens, or null. Head pools are not cached. */
  async findPool(head: HeadSnapshot, address: Hex): Promise<PoolWithTokens | null> {
    const cachedPool = this.poolByAddress.get(address);
    // The snapshot may be older than the creation of the cached pool.
    const isCacheValid = cachedPool !== undefined && head.finalTo >= cachedPool.finalTo;
    const foundPool = isCacheValid ? cachedPool.pool : await findPool(this.runner, head, address);
    if (foundPool === null) return null;
    if ('is_final' in foundPool && foundPool.is_final) {
      if (this.poolByAddress.size >= POOLS_KEPT) this.poolByAddress.clear();
      this.poolByAddress.set(address, { pool: foundPool, finalTo: head.finalTo });
    }
    return { pool: foundPool, tokens: await this.listTokens(tokensOfPool(foundPool)) };
  }

  /**
   * Metadata of at least the given tokens (lower-case addresses). Unknown tokens, and tokens whose metadata is not
   * complete, are queried each time.
   */
  async listTokens(addresses: readonly string[]): Promise<TokenMap> {
    const { tokenByAddress } = this;
    const incompleteAddresses = addresses.filter((address) => !isComplete(tokenByAddress.get(address)));
    for (const [address, token] of await listTokens(this.runner, incompleteAddresses))
      tokenByAddress.set(address, token);
    return tokenByAddress;
  }

  /** Metadata of every token. The map stays the same object until another token is stored. */
  async allTokens(): Promise<TokenMap> {
    // The mark is a value that changes with every write. It is read before the tokens, so that a token stored during
    // the read changes the next mark.
    const mark = await readMark(this.runner);
    if (this.lastMark !== mark) {
      this.tokenByAddress = new Map(await listTokens(this.runner, null));
      this.lastMark = mark;
    }
    return this.tokenByAddress;
  }
}

function isComplete(token: Token | undefined): boolean {
  return token !== undefined && token.symbol !== null && token.name !== null && token.decimals !== null;
}

/** A text that changes with every write to the table of tokens, and sometimes with a merge. */
async function readMark(runner: QueryRunner): Promise<string> {
  const [mark] = await runner.run('pairs/mark_tokens', {}, markRow);
  return mark === undefined ? '' : `${mark.table_rows} ${mark.version_sum}`;
}
