/** Builds, once per head version, what is known about the risks of tokens and pairs. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { Hex } from '../../domain/hex';
import type { PairItem } from '../../wire/pairs';
import type { Token } from '../../wire/primitives';
import type { TransferTax, Warning } from '../../wire/risks';
import { isHistoryPartial } from '../holders/balances';
import { createCheckReader, type BalanceChecks } from '../holders/balanceChecks';
import type { HolderTables } from '../holders/holders';
import { listWatched, type SupplyRules, type WatchedHolder } from '../../domain/chainDescription';
import type { HeadSnapshot } from '../head/headSnapshot';
import { perVersion, type PerVersion } from '../head/perVersion';
import type { PairEntry } from '../pairs/pairItem';
import type { StoredPool } from '../pairs/pools';
import type { CreatorTables } from '../tokens/creators';
import { REBASING, type LpFacts } from '../tokens/tokenSupply';
import { hasOlderLp, lpSharesOf, type LpShares, type ToldLps } from './lpShares';
import { NEW, NO_METADATA, taxOf, warningsOfShare, warningsOfToken, type RiskRules } from './tokenRisk';
import { createLogoReader, createTraitReader } from './tokenTraits';

const DAY_SECONDS = 86_400;
/** This warning has the same code as PARTIAL_HISTORY, the warning about tokens. */
const PARTIAL_LP: Warning = {
  code: 'partial_history',
  message:
    'Transfers of the LP tokens from before the first indexed block are missing, so their holders are not counted',
  severity: 'info',
};
/** Only a pool older than the first indexed block has this warning, in answers that ask the node about its LP tokens. */
const SUPPLY_UNANSWERED: Warning = {
  code: 'supply_unknown',
  message:
    'The node gave no supply of the LP tokens at this block, so their supply and locked part are unknown',
  severity: 'info',
};
/** Warning codes of a quote token that a pair also gets. A pair gets all codes of its base token. */
const SHARED_CODES: ReadonlySet<string> = new Set(['fee_on_transfer', 'honeypot', 'rebasing']);

export interface RiskTable {
  /** Holders whose balances are not in circulation. */
  readonly watched: readonly WatchedHolder[];
  /** The next four functions give null for what is unknown. */
  readonly checksOf: (token: string) => BalanceChecks | null;
  readonly creatorOf: (token: string) => Hex | null;
  readonly logoOf: (token: string) => string | null;
  readonly taxOf: (token: string) => TransferTax | null;
  /** Amount at the zero address that the contract still counts in its supply, raw units. */
  readonly keptAtZeroOf: (token: string) => bigint;
  /** Warnings about the contract of a token. */
  readonly warningsOf: (token: Token) => Warning[];
  /** Facts about the holders of a pool's LP token. */
  readonly lpOf: (pool: StoredPool) => LpFacts;
  readonly sharesOf: (entry: PairEntry) => LpShares;
  /** Warnings about a pair that come from its age, its tokens and the owners of its LP tokens. */
  readonly pairWarningsOf: (entry: PairEntry) => Warning[];
  /** The same table, with answers of the node about LP tokens. */
  readonly withLps: (told: ToldLps) => RiskTable;
}

export type RiskTables = PerVersion<RiskTable>;

export type RiskChain = SupplyRules & RiskRules & { readonly chainId: number };

export function createRiskTables(
  runner: QueryRunner,
  chain: RiskChain,
  holders: HolderTables,
  creators: CreatorTables,
): RiskTables {
  const watched = listWatched(chain);
  const readTraits = createTraitReader(runner);
  const readChecks = createCheckReader(runner);
  const readLogos = createLogoReader(runner, chain.chainId);
  return perVersion({
    async read(head) {
      const [holderTable, creatorTable, traits, logos, checks] = await Promise.all([
        holders.at(head),
        creators.at(head),
        readTraits(),
        readLogos(),
        readChecks(),
      ]);
      const traitsOf = (token: string) => traits.get(token) ?? null;
      const rules = rulesAtHead(chain, head);
      const warningsOf = (token: Token): Warning[] => warningsOfToken(token, traitsOf(token.address), rules);
      const makeTable = (toldLps: ToldLps): RiskTable => {
        const lpOf = ({ address }: StoredPool): LpFacts => ({
          holding: holderTable.holdingOf(address),
          partial: isHistoryPartial(head),
          told: toldLps.get(address) ?? null,
        });
        const sharesOf = ({ pool, ownShares }: PairEntry): LpShares =>
          lpSharesOf({ ...pool, ownShares }, lpOf(pool), watched, creatorTable.ofBase(pool));
        const judge = (entry: PairEntry): PairJudgement => ({
          tokenWarningsOf: (token) => [
            ...warningsOf(token),
            ...(checks.checksOf(token.address)?.rebasing === true ? [REBASING] : []),
          ],
          shares: sharesOf(entry),
          isSupplyUnanswered: toldLps.get(entry.pool.address) === null,
        });
        // Remembers the warnings of each pair, because requests at one head show the same pairs repeatedly.
        const warningsByPair = new WeakMap<PairEntry, Warning[]>();
        return {
          watched,
          checksOf: (token) => checks.checksOf(token),
          creatorOf: (token) => creatorTable.creatorOf(token),
          logoOf: (token) => logos.get(token) ?? null,
          taxOf: (token) => taxOf(traitsOf(token)),
          keptAtZeroOf: (token) => traitsOf(token)?.kept_at_zero ?? 0n,
          warningsOf,
          lpOf,
          sharesOf,
          pairWarningsOf: (entry) => {
            const warnings = warningsByPair.get(entry) ?? warningsOfPair(entry, head, judge(entry));
            warningsByPair.set(entry, warnings);
            return warnings;
          },
          withLps: makeTable,
        };
      };
      return makeTable(new Map());
    },
  });
}

/**
 * The rules for tokens at a head. Until the head is above the fork block, the rules about tokens copied by a
 * fork do not apply: all contracts are then part of the shared history.
 */
function rulesAtHead(chain: RiskChain, head: HeadSnapshot): RiskRules {
  const isAfterFork = chain.forkBlock !== undefined && head.number > chain.forkBlock;
  return isAfterFork
    ? chain
    : { ...(chain.bridgedTokens === undefined ? {} : { bridgedTokens: chain.bridgedTokens }) };
}

interface PairJudgement {
  readonly tokenWarningsOf: (token: Token) => Warning[];
  readonly shares: LpShares;
  /** Whether the node was asked about the LP tokens, and gave no answer. */
  readonly isSupplyUnanswered: boolean;
}

function warningsOfPair(
  { pool, tokens }: PairEntry,
  head: HeadSnapshot,
  { tokenWarningsOf, shares, isSupplyUnanswered }: PairJudgement,
): Warning[] {
  const { base, all } = tokens;
  const warnings: Warning[] = [];
  if (base.symbol === null && base.name === null && base.decimals === null) warnings.push(NO_METADATA);
  if (pool.created_at !== null && pool.created_at > head.timestamp - DAY_SECONDS) warnings.push(NEW);
  if (hasOlderLp(pool, head)) warnings.push(PARTIAL_LP);
  if (isSupplyUnanswered) warnings.push(SUPPLY_UNANSWERED);
  const seenCodes = new Set<string>();
  const otherTokens = all.filter(({ address }) => address !== base.address);
  const sharedWarnings = otherTokens.flatMap(tokenWarningsOf).filter(({ code }) => SHARED_CODES.has(code));
  for (const warning of [
    ...tokenWarningsOf(base),
    ...sharedWarnings,
    ...warningsOfShare(shares.creatorPercent),
  ]) {
    if (seenCodes.has(warning.code)) continue;
    seenCodes.add(warning.code);
    warnings.push(warning);
  }
  return warnings;
}

/** The list item of a pair with the flags of its risks. */
export function flaggedPair(entry: PairEntry, risks: RiskTable): PairItem {
  const { item } = entry;
  return { ...item, flags: [...item.flags, ...risks.pairWarningsOf(entry).map(({ code }) => code)] };
}
