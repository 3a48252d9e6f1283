/**
 * Background worker that measures traits of tokens beside the ingester. The traits are the taxes of transfers,
 * buyers and sellers, and functions in the code. A further trait is the amount at the zero address that the
 * contract still includes in its supply. Each round takes a few tokens, so the number of calls to the node is
 * limited. Failures are logged, and the next round tries again.
 */
import type { EthCalls } from '../node/calls/askContracts';
import type { Clock } from '../node/rpc/clock';
import type { Database } from '../clickhouse/client/database';
import { createQueryRunner, type QueryRunner } from '../clickhouse/client/namedQueries';
import { address, bool, u256, u64 } from '../clickhouse/rows/columns';
import { insertRows } from '../clickhouse/rows/inserter';
import { rowType, type RowOf } from '../clickhouse/rows/rowType';
import { swapsTable } from '../clickhouse/schema/tables';
import { tokenTraitsTable, type TokenTraitRow } from '../clickhouse/schema/traitTables';
import type { Hex } from '../domain/hex';
import { blockOfOrd, toOrd } from '../domain/ord';
import type { Logger } from '../log';
import { isKeptByFactory } from '../protocols/registry';
import { createVerifiedReader } from '../query/contracts/verifiedContracts';
import { isHistoryPartial, listSupplies } from '../query/holders/balances';
import { snapshotParams, type HeadSnapshot } from '../query/head/headSnapshot';
import { findPool } from '../query/pairs/pools';
import { hasFewSellers, isHoneypot } from '../query/risks/tokenRisk';
import { createTraitReader, type TokenTraits } from '../query/risks/tokenTraits';
import { listCreators } from '../query/tokens/creators';
import { codeTraitsOf } from './codeTraits';
import { readCodes, readContractSupplies, readOldCodes, type CodeFacts } from './tokenFacts';
import { doSalesFail, typicalTradeOf } from './saleTrial';
import { measureTax, type MeasuredSwap } from './transferTax';
import { repeatStep } from './repeatStep';

/** Pause in ms before a round while tokens without a measurement wait. */
const ROUND_PAUSE_MS = 2_000;
/** Time in ms between two rounds that measure tokens again. */
const AGAIN_PAUSE_MS = 60_000;
const RETRY_MS = 30_000;
/** Largest number of tokens that one round measures. Measuring a token takes about ten calls to the node. */
const TOKENS_MAX = 16;
/** Largest number of tokens that one round measures again, and of tokens among them that have few new swaps. */
const AGAIN_TOKENS_MAX = 16;
const OLD_TOKENS_MAX = 4;
/** A token with this many new swaps is due again; a token with few swaps is due when their number grew by a tenth. */
const NEW_SWAPS_DUE = 40;
/** Largest number of swaps of a token that one measurement reads, the newest first. */
const SWAPS_MAX = 1_000;
/** Swaps of tokens with more swaps are read by a statement of their own, which does not read all of them. */
const FEW_SWAPS_MAX = 20_000;
/** Largest number of buys, and of sales, whose transfers one measurement reads. */
const TAXED_SWAPS_MAX = 40;
const MOVES_MAX = 20_000;
/** Largest number of buyers among whom the sale trial looks for holders. */
const HOLDERS_TRIED = 10;
/** A tax is shown only if it was measured on at least this many swaps. */
const SWAPS_SHOWN_MIN = 5;
/**
 * Types of pools whose tokens move in the transaction of the swap, so that a tax can be measured: 2 and 3, as in
 * poolShape.ts. Pools of a Balancer vault have other types.
 */
const TAXED_POOL_TYPES: ReadonlySet<number> = new Set([2, 3]);

/** `is_new`: never measured. `is_old`: measured, with few swaps since then. */
const chosenRow = rowType({ token: address, swaps: u64, is_new: bool, is_old: bool });
type ChosenToken = RowOf<typeof chosenRow>;
const { ord, tx_index, pair, pool_type, token0, token1, maker, sender, recipient, amount0, amount1 } =
  swapsTable.types;
const swapRow = rowType({
  ...{ ord, tx_index, pair, pool_type, token0, token1 },
  ...{ maker, sender, recipient, amount0, amount1 },
});
/** `amount` is what the pool received of the measured token, in raw units; negative for a buy. */
type SwapFacts = Omit<RowOf<typeof swapRow>, 'amount0' | 'amount1'> & { readonly amount: bigint };
const moveRow = rowType({ token: address, ord, tx_index, sender, recipient, amount: u256 });

/** A token with its newest swaps, as of a head. */
interface Traded {
  readonly head: HeadSnapshot;
  readonly token: Hex;
  /** Null if unknown. */
  readonly creator: Hex | null;
  readonly swaps: readonly SwapFacts[];
}

type MeasuredRow = Omit<TokenTraitRow, 'checked_block' | 'version'>;

interface TraitDeps {
  readonly database: Database;
  readonly rpc: EthCalls;
  readonly chainId: number;
  /**
   * For a chain that started as a copy of another chain: the last block that both share. Null for any other
   * chain.
   */
  readonly forkBlock: number | null;
  /** `pools` grows with each new pool, `blocks` with each new block. */
  readonly status: { readonly phase: string; readonly pools: number; readonly blocks: number };
  /** Reads the stored head. */
  readonly readHead: () => Promise<HeadSnapshot | null>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Called if the traits shown by the API changed. */
  readonly onChange: () => void;
}

export class TraitWorker {
  private readonly runner: QueryRunner;
  private readonly readTraits: ReturnType<typeof createTraitReader>;

  constructor(private readonly deps: TraitDeps) {
    this.runner = createQueryRunner(deps.database);
    this.readTraits = createTraitReader(this.runner);
  }

  /**
   * Runs until the signal aborts. Never rejects. New pools start a round that measures new tokens only. Without a new
   * block, no token is measured again.
   */
  run(signal: AbortSignal): Promise<void> {
    const { clock, status, log } = this.deps;
    let againAt = 0;
    let measuredPools = -1;
    let measuredBlocks = -1;
    const step = async (): Promise<number> => {
      const { phase, blocks } = status;
      const isAgain = clock.now() >= againAt && blocks !== measuredBlocks;
      if (phase !== 'follow' || (!isAgain && status.pools === measuredPools)) return ROUND_PAUSE_MS;
      measuredPools = status.pools;
      const tokensLeft = await this.round(isAgain, signal);
      if (tokensLeft.hasNew) measuredPools = -1;
      if (isAgain) {
        againAt = clock.now() + AGAIN_PAUSE_MS;
        measuredBlocks = tokensLeft.hasTraded ? -1 : blocks;
      }
      return ROUND_PAUSE_MS;
    };
    const onFailure = (error: string): void => {
      measuredPools = -1;
      log.warn({ error }, 'measuring traits of tokens failed; retrying');
    };
    return repeatStep(clock, { firstMs: ROUND_PAUSE_MS, failedMs: RETRY_MS, step, onFailure }, signal);
  }

  /**
   * Measures some tokens at the stored head: tokens without a measurement, and with `isRepeat` also others. Resolves to
   * whether new tokens, and tokens with new swaps, are left.
   */
  private async round(
    isRepeat: boolean,
    signal: AbortSignal,
  ): Promise<{ readonly hasNew: boolean; readonly hasTraded: boolean }> {
    const { database, clock, readHead, onChange } = this.deps;
    const head = await readHead();
    if (head === null) return { hasNew: false, hasTraded: false };
    const params = { ...snapshotParams(head), limit: TOKENS_MAX, growth: NEW_SWAPS_DUE };
    const chosenTokens = await this.runner.run('measure/choose_tokens', params, chosenRow);
    const tokensToMeasure = isRepeat ? dueTokens(chosenTokens) : chosenTokens.filter(({ is_new }) => is_new);
    const tokensLeft = {
      hasNew: chosenTokens.filter(({ is_new }) => is_new).length === TOKENS_MAX,
      hasTraded: chosenTokens.some((token) => !token.is_old && !tokensToMeasure.includes(token)),
    };
    if (tokensToMeasure.length === 0) return tokensLeft;
    const earlierTraits = await this.readTraits();
    const rows = await this.measure(head, tokensToMeasure, earlierTraits, signal);
    const version = Math.floor(clock.now());
    await insertRows(
      database,
      tokenTraitsTable,
      rows.map((row) => ({ ...row, checked_block: head.number, version })),
    );
    if (rows.some((row) => isChanged(earlierTraits.get(row.token) ?? null, row))) onChange();
    return tokensLeft;
  }

  private async measure(
    head: HeadSnapshot,
    tokensToMeasure: readonly { readonly token: Hex; readonly swaps: number }[],
    earlierTraits: ReadonlyMap<string, TokenTraits>,
    signal: AbortSignal,
  ): Promise<MeasuredRow[]> {
    const { rpc, forkBlock } = this.deps;
    const tokens = tokensToMeasure.map(({ token }) => token);
    const [codes, hadCodeAtFork, zeroBalances, creators, swapsByToken] = await Promise.all([
      readCodes(rpc, tokens, signal),
      forkBlock === null || head.number <= forkBlock
        ? tokens.map(() => null)
        : readOldCodes(rpc, tokens, forkBlock, signal),
      this.readZeroBalances(head, tokens, signal),
      listCreators(this.runner, head, tokens),
      this.listSwaps(head, tokensToMeasure),
    ]);
    const taxes = await this.measureTaxes(head, swapsByToken);
    const abis = await this.readAbis(tokens, codes);
    const creatorByToken = new Map(creators.map(({ address, creator }) => [address, creator]));
    const rows = [];
    for (const [index, { token, swaps }] of tokensToMeasure.entries()) {
      const earlier = earlierTraits.get(token) ?? null;
      const trades = await this.measureTrades(
        { head, token, creator: creatorByToken.get(token) ?? null, swaps: swapsByToken.get(token) ?? [] },
        earlier,
        signal,
      );
      const { buy: buyTax, sell: sellTax } = taxes.get(token) ?? measureTax([], []);
      rows.push({
        token,
        swaps,
        ...trades,
        ...{ buys: buyTax.swaps, buy_tax: buyTax.tax, sells: sellTax.swaps, sell_tax: sellTax.tax },
        ...traitsOfCode(codes[index] ?? null, abis[index] ?? null),
        forked: hadCodeAtFork[index] ?? earlier?.forked ?? null,
        kept_at_zero: zeroBalances[index] ?? 0n,
      });
    }
    return rows;
  }

  private async readAbis(tokens: readonly Hex[], codes: readonly (CodeFacts | null)[]) {
    const { chainId } = this.deps;
    const records = await createVerifiedReader(this.runner).findMany(
      tokens.map((address, index) => ({ chainId, address, codeHash: codes[index]?.hash ?? null })),
    );
    return records.map((record) => record?.abi ?? null);
  }

  /**
   * Returns, for each token, the amount that was sent to the zero address but is still part of the contract's
   * supply. It is at most the balance of the zero address, and at most the part of the supply that the logs
   * do not explain.
   */
  private async readZeroBalances(
    head: HeadSnapshot,
    tokens: readonly Hex[],
    signal: AbortSignal,
  ): Promise<bigint[]> {
    if (isHistoryPartial(head)) return tokens.map(() => 0n);
    const [contractSupplies, logSupplies] = await Promise.all([
      readContractSupplies(this.deps.rpc, tokens, head.hash, signal),
      listSupplies(this.runner, head, tokens),
    ]);
    return tokens.map((token, index) => {
      const { supply, zeroBalance } = contractSupplies[index] ?? { supply: null, zeroBalance: null };
      const unexplainedSupply = supply === null ? 0n : supply - (logSupplies.get(token) ?? 0n);
      if (unexplainedSupply <= 0n || zeroBalance === null) return 0n;
      return unexplainedSupply < zeroBalance ? unexplainedSupply : zeroBalance;
    });
  }

  /** The newest swaps of each token, newest first, at most SWAPS_MAX. */
  private async listSwaps(
    head: HeadSnapshot,
    tokens: readonly { readonly token: Hex; readonly swaps: number }[],
  ): Promise<Map<Hex, SwapFacts[]>> {
    const params = { ...snapshotParams(head), limit: SWAPS_MAX };
    const quietTokens = tokens.filter(({ swaps }) => swaps <= FEW_SWAPS_MAX).map(({ token }) => token);
    const busyTokens = tokens.filter(({ swaps }) => swaps > FEW_SWAPS_MAX);
    const quietAddresses = quietTokens.map((token) => token.slice(2));
    const quietSwaps =
      quietTokens.length === 0
        ? []
        : await this.runner.run('measure/list_swaps', { ...params, tokens: quietAddresses }, swapRow);
    const swapsByToken = new Map(quietTokens.map((token) => [token, swapsOf(token, quietSwaps)]));
    for (const { token } of busyTokens) {
      const busyParams = { ...params, token: token.slice(2) };
      swapsByToken.set(
        token,
        swapsOf(token, await this.runner.run('measure/list_busy_swaps', busyParams, swapRow)),
      );
    }
    return swapsByToken;
  }

  /** Computes buyers and sellers from the newest swaps of the token, and tries a sale. */
  private async measureTrades(
    { head, token, creator, swaps }: Traded,
    earlierTraits: TokenTraits | null,
    signal: AbortSignal,
  ): Promise<Pick<TokenTraitRow, 'buyers' | 'sellers' | 'sale_fails'>> {
    const buyers = new Set<Hex>();
    const sellers = new Set<Hex>();
    // A negative amount left the pool: the maker bought the token.
    for (const { maker, amount } of swaps) if (maker !== null) (amount < 0n ? buyers : sellers).add(maker);
    if (creator !== null) sellers.delete(creator);
    // Swaps of vault pools name no router, so they are used only if there are no others.
    const pairSwaps = swaps.filter(({ pool_type }) => TAXED_POOL_TYPES.has(pool_type));
    const trialSwaps = pairSwaps.length > 0 ? pairSwaps : swaps;
    const [newestSwap] = trialSwaps;
    // A measurement at the limit of SWAPS_MAX has not read all swaps, so the number of sellers of an earlier
    // measurement still counts.
    const sellerCount = Math.max(
      sellers.size,
      swaps.length === SWAPS_MAX ? (earlierTraits?.sellers ?? 0) : 0,
    );
    const holders = [...buyers].filter((buyer) => !sellers.has(buyer)).slice(0, HOLDERS_TRIED);
    const sale =
      newestSwap !== undefined && hasFewSellers({ buyers: buyers.size, sellers: sellerCount })
        ? {
            ...typicalTradeOf(trialSwaps),
            pair: await this.keeperOf(head, newestSwap.pair),
            holders,
            blockHash: head.hash,
          }
        : null;
    const doSalesFailNow = sale === null ? null : await doSalesFail(this.deps.rpc, token, sale, signal);
    return { buyers: buyers.size, sellers: sellerCount, sale_fails: doSalesFailNow };
  }

  /** The address that holds the tokens of a pool: the pool, or the vault or manager of its protocol. */
  private async keeperOf(head: HeadSnapshot, pair: Hex): Promise<Hex> {
    const pool = await findPool(this.runner, head, pair);
    return pool !== null && isKeptByFactory(pool.protocol) ? pool.factory : pair;
  }

  /** Measures the tax of each token on its newest buys and sales. */
  private async measureTaxes(
    head: HeadSnapshot,
    swapsByToken: ReadonlyMap<Hex, readonly SwapFacts[]>,
  ): Promise<ReadonlyMap<Hex, ReturnType<typeof measureTax>>> {
    const taxedByToken = [...swapsByToken].map(([token, swaps]) => ({ token, swaps: taxedSwaps(swaps) }));
    const transactions = taxedByToken.flatMap(({ token, swaps }) =>
      swaps.map(({ ord, txIndex }) => ({ token: token.slice(2), place: toOrd(blockOfOrd(ord), txIndex) })),
    );
    const params = {
      ...snapshotParams(head),
      tokens: transactions.map(({ token }) => token),
      transactions: transactions.map(({ place }) => place),
      limit: MOVES_MAX,
    };
    const rows =
      transactions.length === 0 ? [] : await this.runner.run('measure/list_transfers', params, moveRow);
    const moves = rows.map(({ tx_index: txIndex, ...move }) => ({ ...move, txIndex }));
    return new Map(
      taxedByToken.map(({ token, swaps }) => {
        const movesOfToken = moves.filter((move) => move.token === token);
        return [token, measureTax(swaps, movesOfToken)] as const;
      }),
    );
  }
}

/** The traits that the code of a token shows; null if the node did not return the code. */
function traitsOfCode(
  code: CodeFacts | null,
  abi: Parameters<typeof codeTraitsOf>[1],
): Pick<TokenTraitRow, 'mintable' | 'pausable' | 'bridged'> {
  return code === null ? { mintable: null, pausable: null, bridged: null } : codeTraitsOf(code.code, abi);
}

/** The newest swaps of one token among swaps of several, newest first. */
function swapsOf(token: Hex, swaps: readonly RowOf<typeof swapRow>[]): SwapFacts[] {
  return swaps
    .filter((swap) => swap.token0 === token || swap.token1 === token)
    .slice(0, SWAPS_MAX)
    .map(({ amount0, amount1, ...swap }) => ({ ...swap, amount: swap.token0 === token ? amount0 : amount1 }));
}

/** The newest buys and sales on which a tax is measured. */
function taxedSwaps(swaps: readonly SwapFacts[]): MeasuredSwap[] {
  const swapsOfTaxedPools = swaps.filter(({ pool_type }) => TAXED_POOL_TYPES.has(pool_type));
  return [
    ...swapsOfTaxedPools.filter(({ amount }) => amount < 0n).slice(0, TAXED_SWAPS_MAX),
    ...swapsOfTaxedPools.filter(({ amount }) => amount > 0n).slice(0, TAXED_SWAPS_MAX),
  ].map(({ tx_index, ...swap }) => ({ ...swap, txIndex: tx_index }));
}

/** Selects all new tokens, and some of the others. */
function dueTokens(chosenTokens: readonly ChosenToken[]): readonly ChosenToken[] {
  const grownTokens = chosenTokens.filter(({ is_new, is_old }) => !is_new && !is_old);
  const oldTokens = chosenTokens.filter(({ is_old }) => is_old).slice(0, OLD_TOKENS_MAX);
  const tokensAgain = [...grownTokens.slice(0, AGAIN_TOKENS_MAX - oldTokens.length), ...oldTokens];
  return [...chosenTokens.filter(({ is_new }) => is_new), ...tokensAgain];
}

/** Returns whether the API would show the new traits differently. */
function isChanged(earlierTraits: TokenTraits | null, row: MeasuredRow): boolean {
  const shownTextOf = ({
    buys,
    buy_tax,
    sells,
    sell_tax,
    buyers,
    sellers,
    ...otherTraits
  }: MeasuredRow | TokenTraits): string =>
    JSON.stringify([
      Math.min(buys, SWAPS_SHOWN_MIN),
      buy_tax,
      Math.min(sells, SWAPS_SHOWN_MIN),
      sell_tax,
      isHoneypot({ buyers, sellers, sale_fails: otherTraits.sale_fails }),
      [
        otherTraits.sale_fails,
        otherTraits.mintable,
        otherTraits.pausable,
        otherTraits.bridged,
        otherTraits.forked,
        String(otherTraits.kept_at_zero),
      ],
    ]);
  return earlierTraits === null || shownTextOf(earlierTraits) !== shownTextOf(row);
}
