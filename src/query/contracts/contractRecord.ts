/** Builds the contract answers of the explorer: a summary for lists, and the whole record of one contract. */
import { formatUnits } from '../../domain/amounts';
import type { Hex } from '../../domain/hex';
import type { AccountState } from '../../domain/accountState';
import { blockOfOrd, lastOrdOfBlock, logIndexOfOrd } from '../../domain/ord';
import type { VerifiedContract, VerifiedReader } from '../../domain/verifiedContract';
import type { ContractRecord, ContractSummary } from '../../wire/explorer';
import { changesFees } from '../../protocols/registry';
import { soleTarget, targetsOf, type CodeSpan } from './codeSpans';
import { silentFacts, type ContractFacts } from './contractFacts';
import { isToken, type ContractReader } from './contracts';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { LogSource } from '../logs/logFilter';
import { implementationsAt, readProxies, type Proxies } from '../logs/proxies';
import { readPoolFees, type PoolFees } from '../pairs/poolFees';
import { findPool, tokensOfPool } from '../pairs/pools';
import { TIME_BUDGETS } from '../head/timeBudgets';
import { listTokens, tokenOf, type TokenMap } from '../tokens/tokens';
import { readTotalSupply } from '../tokens/totalSupply';
import { findWholeVerification, type TwinArguments } from './twinArguments';

/** Largest number of upgrades in one answer. */
const UPGRADES_SHOWN = 100;

interface RecordDeps {
  readonly contracts: Pick<ContractReader, 'findMany'>;
  readonly verified: VerifiedReader;
  /** Finds constructor arguments of contracts that have the code of a verified contract; optional. */
  readonly twinArguments?: TwinArguments;
  /** Access to the node of a chain, for reads of contract state; null without a node. */
  readonly nodeOf?: (chainId: number) => AccountState | null;
  /** Supply of a token that the market shows at that head, raw units; null if it shows none. */
  readonly supplyOf?: (chainId: number, head: HeadSnapshot, token: Hex) => Promise<bigint | null>;
}

interface Moment {
  readonly source: LogSource;
  readonly head: HeadSnapshot;
}

/** Summaries of at most 100 contracts, in the given order. A contract may have a verification and no other facts. */
export async function toSummaries(
  { contracts, verified }: RecordDeps,
  { source, head }: Moment,
  addresses: readonly Hex[],
): Promise<ContractSummary[]> {
  const storedFacts = await contracts.findMany(source.chainId, addresses);
  const facts = addresses.map((address, index) => storedFacts[index] ?? silentFacts(source.chainId, address));
  const [records, proxies] = await Promise.all([
    findVerifications(verified, facts),
    readProxyRoutes(source, head, facts),
  ]);
  return facts.map((contractFacts) =>
    toSummary(contractFacts, records.get(contractFacts.address) ?? null, proxies, head),
  );
}

async function readProxyRoutes(
  source: LogSource,
  head: HeadSnapshot,
  facts: readonly ContractFacts[],
): Promise<Proxies> {
  const codeByProxy = new Map(
    facts.flatMap((contractFacts) =>
      contractFacts.code?.proxy == null ? [] : [[contractFacts.address, contractFacts.code]],
    ),
  );
  return codeByProxy.size === 0
    ? { spans: new Map(), upgrades: new Map() }
    : readProxies(source, head, [...codeByProxy.keys()], codeByProxy);
}

/** Accepts at most 1,000 addresses. */
async function findVerifications(
  verified: Pick<VerifiedReader, 'findMany'>,
  facts: readonly ContractFacts[],
): Promise<ReadonlyMap<Hex, VerifiedContract | null>> {
  const records = await verified.findMany(
    facts.map(({ chainId, address, codeHash }) => ({ chainId, address, codeHash })),
  );
  return new Map(facts.map(({ address }, index) => [address, records[index] ?? null]));
}

function toSummary(
  facts: ContractFacts,
  record: VerifiedContract | null,
  proxies: Proxies,
  head: HeadSnapshot,
): ContractSummary {
  const { address, creation, kind, token } = facts;
  return {
    chain_id: facts.chainId,
    address,
    name: record?.name ?? token?.name ?? null,
    type: kind,
    verified: record !== null,
    proxy: proxyOf(facts, proxies, head),
    creation_block: creation?.block ?? null,
    created_at: creation?.timestamp ?? null,
    first_seen_block: firstSeenOf(facts),
    last_seen_block: facts.lastSeenBlock ?? creation?.block ?? null,
    log_count: facts.logCount,
    token: token === null ? null : { symbol: token.symbol, name: token.name, decimals: token.decimals },
  };
}

/** The block of the creation, or of the first log if that is earlier. */
function firstSeenOf({ creation, firstSeenBlock }: ContractFacts): number | null {
  if (creation === null || firstSeenBlock === null) return creation?.block ?? firstSeenBlock;
  return Math.min(creation.block, firstSeenBlock);
}

/** The implementation of the proxy as of the snapshot. */
function proxyOf(
  { address, code }: ContractFacts,
  proxies: Proxies,
  head: HeadSnapshot,
): ContractSummary['proxy'] {
  if (code === null || code.proxy === null) return null;
  const targets = implementationsAt(proxies, address, lastOrdOfBlock(head.number));
  return { kind: code.proxy.kind, implementation: soleTarget(code, targets) };
}

/** Total supply of a token; null for another contract. */
async function readSupply(
  { nodeOf, supplyOf }: RecordDeps,
  { source, head }: Moment,
  facts: ContractFacts,
): ReturnType<typeof readTotalSupply> {
  if (!isToken(facts)) return null;
  const node = nodeOf?.(facts.chainId) ?? null;
  const marketSupply = (await supplyOf?.(facts.chainId, head, facts.address)) ?? null;
  return readTotalSupply(source, head, facts.address, {
    node,
    marketSupply,
    patienceMs: TIME_BUDGETS.nodeMs,
  });
}

export async function toRecord(
  deps: RecordDeps,
  moment: Moment,
  facts: ContractFacts,
): Promise<ContractRecord> {
  const { verified, twinArguments } = deps;
  const { source, head } = moment;
  const { address, kind } = facts;
  const { runner } = source;
  const [record, proxies, pool, supply] = await Promise.all([
    findWholeVerification(verified, twinArguments, facts.chainId, address, facts),
    readHistory(source, head, facts),
    kind === 'pair' ? findPool(runner, head, address) : null,
    readSupply(deps, moment, facts),
  ]);
  const [files, pairTokens, fees] = await Promise.all([
    record === null ? null : verified.readSources(record),
    pool === null ? new Map() : listTokens(runner, tokensOfPool(pool)),
    readPoolFees(runner, facts.chainId, head, pool !== null && changesFees(pool.protocol) ? [address] : []),
  ]);
  // As in the market's lists, a token without decimals counts in raw units.
  const supplyText = supply === null ? null : formatUnits(supply, facts.token?.decimals ?? 0);
  const summary = toSummary(facts, record, proxies, head);
  return {
    ...summary,
    ...verificationOf(record),
    sources: files?.map(({ path, content }) => ({ path, content })) ?? null,
    ...originOf(facts),
    token: summary.token === null ? null : { ...summary.token, total_supply: supplyText },
    pair: pool === null ? null : toPair(pool, pairTokens, fees),
    upgrades: listUpgrades(proxies, address),
    code_history: (proxies.spans.get(address) ?? []).slice(-UPGRADES_SHOWN).reverse().map(toCodeEntry),
  };
}

/** What stood at the address over time, with the code that the node sees now. */
function readHistory(source: LogSource, head: HeadSnapshot, facts: ContractFacts): Promise<Proxies> {
  const { address, code, codeHash } = facts;
  return readProxies(source, head, [address], new Map(codeHash === null ? [] : [[address, code]]));
}

type ContractOrigin = Pick<ContractRecord, 'creator' | 'factory' | 'creation_tx' | 'code_hash' | 'code_size'>;

function originOf({ creation, code }: ContractFacts): ContractOrigin {
  return {
    creator: creation?.creator ?? null,
    factory: creation?.factory ?? null,
    creation_tx: creation?.txHash ?? null,
    code_hash: code?.hash ?? null,
    code_size: code?.size ?? null,
  };
}

type UpgradeEntry = ContractRecord['upgrades'][number];

/** The newest upgrades of a proxy, newest first: from its logs, and changes without a log that the node saw. */
function listUpgrades({ spans, upgrades }: Proxies, address: Hex): UpgradeEntry[] {
  const loggedUpgrades = (upgrades.get(address) ?? []).map(({ ord, kind, targets }) => ({
    block_number: blockOfOrd(ord),
    log_index: logIndexOfOrd(ord),
    kind,
    targets: [...targets],
  }));
  const loggedBlocks = new Set(loggedUpgrades.map(({ block_number }) => block_number));
  const ownSpans = spans.get(address) ?? [];
  const unloggedUpgrades = ownSpans.flatMap(({ from, code }, index): UpgradeEntry[] => {
    const [formerCode, targets] = [ownSpans[index - 1]?.code ?? null, targetsOf(code)];
    const isSame = index > 0 && targetsOf(formerCode).join() === targets.join();
    if (isSame || loggedBlocks.has(from) || (index === 0 && code?.proxy == null)) return [];
    const kind = (code?.proxy ?? formerCode?.proxy)?.kind;
    const upgradeKind = kind === 'eip7702' ? 'delegation' : kind === 'eip2535' ? 'diamond' : 'implementation';
    return [{ block_number: from, log_index: null, kind: upgradeKind, targets: [...targets] }];
  });
  // The first reading alone is no upgrade.
  const entries = ownSpans.length > 1 ? [...loggedUpgrades, ...unloggedUpgrades] : loggedUpgrades;
  return entries
    .sort((a, b) => b.block_number - a.block_number || (b.log_index ?? 0) - (a.log_index ?? 0))
    .slice(0, UPGRADES_SHOWN);
}

function toCodeEntry({ from, code }: CodeSpan): ContractRecord['code_history'][number] {
  const proxy = code?.proxy ?? null;
  return {
    from_block: from,
    code_hash: code?.hash ?? null,
    code_size: code?.size ?? 0,
    proxy: proxy === null ? null : { kind: proxy.kind, targets: [...targetsOf(code)] },
  };
}

type Verification = Pick<
  ContractRecord,
  | 'verification'
  | 'compiler'
  | 'language'
  | 'optimization'
  | 'evm_version'
  | 'license'
  | 'abi'
  | 'constructor_args'
>;

function verificationOf(record: VerifiedContract | null): Verification {
  if (record === null) {
    return {
      verification: { status: null, verified_at: null, source: null, twin_of: null },
      compiler: null,
      language: null,
      optimization: null,
      evm_version: null,
      license: null,
      abi: null,
      constructor_args: null,
    };
  }
  const { twinOf } = record;
  return {
    verification: {
      status: record.status,
      verified_at: record.verifiedAt,
      source: twinOf === null ? record.source : 'twin',
      twin_of: twinOf === null ? null : { chain_id: twinOf.chainId, address: twinOf.address },
    },
    compiler: { name: record.compiler, version: record.compilerVersion },
    language: record.language,
    optimization: { enabled: record.optimization, runs: record.runs },
    evm_version: record.evmVersion,
    license: record.license,
    abi: [...record.abi],
    constructor_args: record.constructorArguments,
  };
}

function toPair(
  pool: NonNullable<Awaited<ReturnType<typeof findPool>>>,
  tokens: TokenMap,
  fees: PoolFees,
): ContractRecord['pair'] {
  return {
    dex_name: pool.dex,
    pool_type: pool.pool_type,
    factory: pool.factory,
    fee_bps: (fees.get(pool.address) ?? pool.fee_pips) / 100,
    tokens: tokensOfPool(pool).map((token) => {
      const { address, symbol, name, decimals } = tokenOf(tokens, token);
      return { address, symbol, name, decimals };
    }),
  };
}
