/**
 * Background worker that measures traits of tokens beside the ingester. The traits are the taxes of transfers,
 * buyers and sellers, and functions in the code. A further trait is the amount at the zero address that the
 * contract still includes in its supply. Each round takes a few tokens, so the number of calls to the node is
 * limited. Failures are logged, and the next round tries again.
 */
import type { Clock } from '../node/rpc/clock';
import type { Database } from '../clickhouse/client/database';
import { createQueryRunner, type QueryRunner } from '../clickhouse/client/namedQueries';
import { address, bool, i256, u256, u64 } from '../clickhouse/rows/columns';
import { insertRows } from '../clickhouse/rows/inserter';
import { rowType, type RowOf } from '../clickhouse/rows/rowType';
import { swapsTable } from '../clickhouse/schema/tables';
import { tokenTraitsTable, type TokenTraitRow } from '../clickhouse/schema/traitTables';
import type { Hex } from '../domain/hex';
import { blockOfOrd, toOrd } from '../domain/ord';
import type { Logger } from '../log';
import { createVerifiedReader } from '../query/contracts/verifiedContracts';
import { isHistoryPartial, listSupplies } from '../query/holders/balances';
import { snapshotParams, type HeadSnapshot } from '../query/head/headSnapshot';
import { readHead } from '../query/head/headState';
import { hasFewSellers, isHoneypot } from '../query/risks/tokenRisk';
import { listTraits, type TokenTraits } from '../query/risks/tokenTraits';
import { listCreators } from '../query/tokens/creators';
import { codeTraitsOf } from './codeTraits';
import { readCodes, readContractSupplies, readOldCodes, type CodeFacts, type FactRpc } from './askContracts';
import { doSalesFail, typicalTradeOf } from './saleTrial';
import { measureTax, type MeasuredSwap, type TaxedMove } from './transferTax';
import { repeatStep } from './repeatStep';

/** Pause in ms before a round while tokens without a measurement wait. */
const SOON_MS = 2_000;
/** Time in ms between two rounds that measure tokens again. */
const AGAIN_MS = 30_000;
const FAILED_MS = 30_000;
/**
 * Largest number of tokens that one round measures. Measuring a token takes about ten calls to the node and two
 * statements.
 */
const TOKENS_MAX = 16;
/** Largest number of tokens that one round measures again, and of tokens among them that have few new swaps. */
const AGAIN_MAX = 8;
const OLD_TOKENS_MAX = 2;
/** A token with this many new swaps is due again; a token with few swaps is due when their number grew by a tenth. */
const NEW_SWAPS = 40;
/** Largest number of swaps of a token that one measurement reads, the newest first. */
const SWAPS_MAX = 1_000;
/** Largest number of buys, and of sales, whose transfers one measurement reads. */
const TAXED_MAX = 40;
const MOVES_MAX = 20_000;
/** Largest number of buyers among whom the sale trial looks for holders. */
const HOLDERS_TRIED = 10;
/** A tax is shown only if it was measured on at least this many swaps. */
const MEASURED_SHOWN = 5;
/**
 * Types of pools whose tokens move in the transaction of the swap, so that a tax can be measured. Vault pools
 * are excluded.
 */
const TAXED_POOLS: ReadonlySet<number> = new Set([2, 3]);

const chosenRow = rowType({ token: address, swaps: u64, is_new: bool, is_old: bool });
type Chosen = RowOf<typeof chosenRow>;
const { ord, tx_index, pair, pool_type, maker, sender, recipient } = swapsTable.types;
const swapRow = rowType({ ord, tx_index, pair, pool_type, maker, sender, recipient, amount: i256 });
type SwapFacts = RowOf<typeof swapRow>;
const moveRow = rowType({ ord, tx_index, sender, recipient, amount: u256 });

type MeasuredRow = Omit<TokenTraitRow, 'checked_block' | 'version'>;

interface TraitDeps {
  readonly database: Database;
  readonly rpc: FactRpc;
  readonly chainId: number;
  /**
   * For a chain that started as a copy of another chain: the last block that both share. Null for any other
   * chain.
   */
  readonly forkBlock: number | null;
  /** `pools` grows with each new pool. */
  readonly status: { readonly phase: string; readonly pools: number };
  readonly log: Logger;
  readonly clock: Clock;
  /** Called if the traits shown by the API changed and no new block came since. */
  readonly onChange: () => void;
}

export class TraitWorker {
  private readonly runner: QueryRunner;
  /**
   * Version of the head when changed traits were stored. While readers have this version, their cached answers
   * may show the older traits. Null if all readers have the newest traits.
   */
  private untold: string | null = null;

  constructor(private readonly deps: TraitDeps) {
    this.runner = createQueryRunner(deps.database);
  }

  /** Runs until the signal aborts. Never rejects. New pools start a round that measures new tokens only. */
  run(signal: AbortSignal): Promise<void> {
    const { clock, status, log } = this.deps;
    let againAt = 0;
    let pools = -1;
    const step = async (): Promise<number> => {
      const again = clock.now() >= againAt;
      if (status.phase !== 'follow' || (!again && status.pools === pools)) return SOON_MS;
      pools = status.pools;
      if (await this.round(again, signal)) pools = -1;
      if (again) againAt = clock.now() + AGAIN_MS;
      return SOON_MS;
    };
    const onFailure = (error: string): void => {
      pools = -1;
      log.warn({ error }, 'measuring traits of tokens failed; retrying');
    };
    return repeatStep(clock, { firstMs: SOON_MS, failedMs: FAILED_MS, step, onFailure }, signal);
  }

  /**
   * Measures some tokens at the stored head: tokens without a measurement, and with `again` also others. Resolves to true
   * if a further round should follow soon.
   */
  async round(again: boolean, signal: AbortSignal): Promise<boolean> {
    const { database, chainId, clock, onChange } = this.deps;
    const head = await readHead(this.runner, chainId);
    if (head === null) return false;
    if (this.untold === head.version) onChange();
    this.untold = null;
    const params = { ...snapshotParams(head), limit: TOKENS_MAX, growth: NEW_SWAPS };
    const chosen = await this.runner.run('measure/choose_tokens', params, chosenRow);
    const wanted = again ? dueTokens(chosen) : chosen.filter(({ is_new }) => is_new);
    if (wanted.length === 0) return false;
    const known = await listTraits(this.runner);
    const rows = await this.measure(head, wanted, known, signal);
    const version = Math.floor(clock.now());
    await insertRows(
      database,
      tokenTraitsTable,
      rows.map((row) => ({ ...row, checked_block: head.number, version })),
    );
    // A newer version may have appeared meanwhile, and its readers may have read the traits before they were stored.
    if (rows.some((row) => isChanged(known.get(row.token) ?? null, row)))
      this.untold = (await readHead(this.runner, chainId))?.version ?? null;
    return this.untold !== null || wanted.filter(({ is_new }) => is_new).length === TOKENS_MAX;
  }

  private async measure(
    head: HeadSnapshot,
    wanted: readonly { readonly token: Hex; readonly swaps: number }[],
    known: ReadonlyMap<string, TokenTraits>,
    signal: AbortSignal,
  ): Promise<MeasuredRow[]> {
    const { rpc, forkBlock } = this.deps;
    const tokens = wanted.map(({ token }) => token);
    const [codes, forked, kept, creators] = await Promise.all([
      readCodes(rpc, tokens, signal),
      forkBlock === null || head.number <= forkBlock
        ? tokens.map(() => null)
        : readOldCodes(rpc, tokens, forkBlock, signal),
      this.readKept(head, tokens, signal),
      listCreators(this.runner, head, tokens),
    ]);
    const abis = await this.readAbis(tokens, codes);
    const creatorOf = new Map(creators.map(({ address, creator }) => [address, creator]));
    const rows = [];
    for (const [index, { token, swaps }] of wanted.entries()) {
      const before = known.get(token) ?? null;
      const trades = await this.measureTrades(head, token, creatorOf.get(token) ?? null, before, signal);
      const code = codes[index] ?? null;
      const traits = code === null ? null : codeTraitsOf(code.code, abis[index] ?? null);
      rows.push({
        token,
        swaps,
        ...trades,
        mintable: traits?.mintable ?? null,
        pausable: traits?.pausable ?? null,
        bridged: traits?.bridged ?? null,
        forked: forked[index] ?? before?.forked ?? null,
        kept_at_zero: kept[index] ?? 0n,
      });
    }
    return rows;
  }

  private async readAbis(tokens: readonly Hex[], codes: readonly (CodeFacts | null)[]) {
    const { chainId } = this.deps;
    const found = await createVerifiedReader(this.runner).findMany(
      tokens.map((address, index) => ({ chainId, address, codeHash: codes[index]?.hash ?? null })),
    );
    return found.map((record) => record?.abi ?? null);
  }

  /**
   * Returns, for each token, the amount that was sent to the zero address but is still part of the contract's
   * supply. It is at most the balance of the zero address, and at most the part of the supply that the logs
   * do not explain.
   */
  private async readKept(head: HeadSnapshot, tokens: readonly Hex[], signal: AbortSignal): Promise<bigint[]> {
    if (isHistoryPartial(head)) return tokens.map(() => 0n);
    const [told, byLogs] = await Promise.all([
      readContractSupplies(this.deps.rpc, tokens, head.hash, signal),
      listSupplies(this.runner, head, tokens),
    ]);
    return tokens.map((token, index) => {
      const { supply, zero } = told[index] ?? { supply: null, zero: null };
      const extra = supply === null ? 0n : supply - (byLogs.get(token) ?? 0n);
      if (extra <= 0n || zero === null) return 0n;
      return extra < zero ? extra : zero;
    });
  }

  /** Computes taxes, buyers and sellers from the newest swaps of the token. */
  private async measureTrades(
    head: HeadSnapshot,
    token: Hex,
    creator: Hex | null,
    before: TokenTraits | null,
    signal: AbortSignal,
  ): Promise<
    Pick<TokenTraitRow, 'buys' | 'buy_tax' | 'sells' | 'sell_tax' | 'buyers' | 'sellers' | 'sale_fails'>
  > {
    const params = { ...snapshotParams(head), token: token.slice(2), limit: SWAPS_MAX };
    const swaps = await this.runner.run('measure/list_swaps', params, swapRow);
    const buyers = new Set<Hex>();
    const sellers = new Set<Hex>();
    for (const { maker, amount } of swaps) if (maker !== null) (amount < 0n ? buyers : sellers).add(maker);
    if (creator !== null) sellers.delete(creator);
    const direct = swaps.filter(({ pool_type }) => TAXED_POOLS.has(pool_type));
    const pooled = direct.length > 0 ? direct : swaps;
    const [newest] = pooled;
    // A measurement at the limit of SWAPS_MAX has not read all swaps, so the number of sellers of an earlier
    // measurement still counts.
    const sold = Math.max(sellers.size, swaps.length === SWAPS_MAX ? (before?.sellers ?? 0) : 0);
    const holders = [...buyers].filter((buyer) => !sellers.has(buyer)).slice(0, HOLDERS_TRIED);
    const sale =
      newest !== undefined && hasFewSellers({ buyers: buyers.size, sellers: sold })
        ? { ...typicalTradeOf(pooled), pair: newest.pair, holders, blockHash: head.hash }
        : null;
    const [{ buy, sell }, fails] = await Promise.all([
      this.measureTax(head, token, swaps),
      sale === null ? null : doSalesFail(this.deps.rpc, token, sale, signal),
    ]);
    return {
      buys: buy.swaps,
      buy_tax: buy.tax,
      sells: sell.swaps,
      sell_tax: sell.tax,
      buyers: buyers.size,
      sellers: sold,
      sale_fails: fails,
    };
  }

  private async measureTax(head: HeadSnapshot, token: Hex, all: readonly SwapFacts[]) {
    const taxed = all.filter(({ pool_type }) => TAXED_POOLS.has(pool_type));
    const swaps = [
      ...taxed.filter(({ amount }) => amount < 0n).slice(0, TAXED_MAX),
      ...taxed.filter(({ amount }) => amount > 0n).slice(0, TAXED_MAX),
    ].map(({ tx_index, ...swap }): MeasuredSwap => ({ ...swap, txIndex: tx_index }));
    return measureTax(swaps, await this.listMoves(head, token, swaps));
  }

  private async listMoves(
    head: HeadSnapshot,
    token: Hex,
    swaps: readonly MeasuredSwap[],
  ): Promise<TaxedMove[]> {
    if (swaps.length === 0) return [];
    const ords = swaps.map((swap) => swap.ord);
    const params = {
      ...snapshotParams(head),
      token: token.slice(2),
      from_ord: toOrd(blockOfOrd(Math.min(...ords)), 0),
      to_ord: Math.max(...ords),
      transactions: swaps.map((swap) => toOrd(blockOfOrd(swap.ord), swap.txIndex)),
      limit: MOVES_MAX,
    };
    const rows = await this.runner.run('measure/list_transfers', params, moveRow);
    return rows.map(({ tx_index: txIndex, ...move }) => ({ ...move, txIndex }));
  }
}

/** Selects all new tokens, and some of the others. */
function dueTokens(chosen: readonly Chosen[]): readonly Chosen[] {
  const grown = chosen.filter(({ is_new, is_old }) => !is_new && !is_old);
  const old = chosen.filter(({ is_old }) => is_old).slice(0, OLD_TOKENS_MAX);
  const again = [...grown.slice(0, AGAIN_MAX - old.length), ...old];
  return [...chosen.filter(({ is_new }) => is_new), ...again];
}

/** Returns whether the API would show the new traits differently. */
function isChanged(before: TokenTraits | null, row: MeasuredRow): boolean {
  const shown = ({
    buys,
    buy_tax,
    sells,
    sell_tax,
    buyers,
    sellers,
    ...rest
  }: MeasuredRow | TokenTraits): string =>
    JSON.stringify([
      Math.min(buys, MEASURED_SHOWN),
      buy_tax,
      Math.min(sells, MEASURED_SHOWN),
      sell_tax,
      isHoneypot({ buyers, sellers, sale_fails: rest.sale_fails }),
      [rest.sale_fails, rest.mintable, rest.pausable, rest.bridged, rest.forked, String(rest.kept_at_zero)],
    ]);
  return before === null || shown(before) !== shown(row);
}
