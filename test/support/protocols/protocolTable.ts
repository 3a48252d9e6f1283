/**
 * The table of docs/protocols.md: one row for each protocol of the registry. The first columns follow from the code. The
 * last three are figures of the oracle tests in test/full/protocols, which `recordOracle` stores.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BUILT_IN_CHAINS } from '../../../src/chains/builtIn/builtInChains';
import { ZERO_ADDRESS, ZERO_HASH } from '../../../src/domain/hex';
import { POOL_BINS, shapeOf } from '../../../src/domain/pools/poolShape';
import type { ManyTokenProtocol } from '../../../src/protocols/manyTokenProtocol';
import type { Protocol } from '../../../src/protocols/protocol';
import { PROTOCOLS } from '../../../src/protocols/registry';
import { rowsOf, textOf } from '../documents';

export const PROTOCOL_TABLE_PATH = 'docs/protocols.md';
/** Folder in which oracle tests store their figures; without it, nothing is stored. */
export const FIGURES_FOLDER = 'PROTOCOL_FIGURES';
export const TRADES_MIN = 500;
export const DEVIATION_MAX = 1e-9;

const HEADER = [
  'Family',
  'Chains',
  'Discovery',
  'Price',
  'Fee',
  'LP positions',
  'Oracle',
  'Trades',
  'Largest deviation',
];
/** Columns that follow from the code. */
const FROM_CODE = 6;

interface OracleFigures {
  readonly protocol: string;
  /** The contracts whose answers were compared. */
  readonly oracle: string;
  readonly trades: number;
  /** Largest relative difference between our price and that of the contract. */
  readonly deviation: number;
}

/** Called at the end of an oracle test. Throws if it made too few trades, or a price differs. */
export function recordOracle(figures: OracleFigures): void {
  if (!(figures.trades >= TRADES_MIN && figures.deviation < DEVIATION_MAX))
    throw new Error(`not enough trades, or prices differ: ${JSON.stringify(figures)}`);
  const folder = process.env[FIGURES_FOLDER];
  if (folder !== undefined) writeFileSync(join(folder, `${figures.protocol}.json`), JSON.stringify(figures));
}

/** The columns of a protocol that follow from the code. */
export function describeProtocol(protocol: Protocol | ManyTokenProtocol): string[] {
  const chains = BUILT_IN_CHAINS.filter(({ dexes }) =>
    dexes.some((dex) => dex.protocol === protocol.name),
  ).map(({ name }) => name);
  const shapes = protocol.poolTypes.map(shapeOf);
  const price = { reserves: 'reserves', sqrt_price: '√price', stored: 'curve of the contract' } as const;
  return [
    `\`${protocol.name}\``,
    chains.length === 0 ? 'none built in' : chains.join(', '),
    discoveryOf(protocol),
    [...new Set(shapes.map((shape) => price[shape.price]))].join(', '),
    feeOf(protocol),
    positionsOf(protocol),
  ];
}

function discoveryOf(protocol: Protocol | ManyTokenProtocol): string {
  if (protocol.hasManyTokens)
    return protocol.isVault ? 'events of the vault' : 'creation events; older pools: own events';
  if (protocol.idQuestions !== undefined) {
    const isAsked = protocol.idQuestions.describeCall({ factory: ZERO_ADDRESS }, ZERO_HASH) !== null;
    return `creation events; older pools: own events, described by the ${isAsked ? '' : 'position '}manager`;
  }
  const list = protocol.listsPools ? ', and its list' : '';
  return `creation events; older pools: own events, confirmed by the factory${list}`;
}

const NO_CREATION = { pool: ZERO_ADDRESS, token0: ZERO_ADDRESS, token1: ZERO_ADDRESS };

function feeOf(protocol: Protocol | ManyTokenProtocol): string {
  if (!protocol.hasManyTokens && protocol.poolOf !== undefined)
    return `event of each swap${protocol.feeChange === null ? '' : '; the pool’s: fee events'}`;
  if (protocol.feeChange !== null) return 'fee events';
  if (protocol.hasManyTokens) return 'none';
  const details = protocol.detailCalls(ZERO_ADDRESS, { ...NO_CREATION, feePips: null, tickSpacing: 0 });
  if (protocol.readTransfer !== undefined) return 'answer of the contract';
  if (details.length > 0) return 'what each swap paid; the pool’s: answer of the contract';
  return protocol.hasSync ? 'one for the DEX' : 'creation event';
}

/** Protocols whose positions no portfolio shows yet: docs/operations.md says so of `positionManager`. */
const WITHOUT_POSITIONS: ReadonlySet<string> = new Set(['bonding_curve']);

function positionsOf({ name, poolTypes }: Protocol | ManyTokenProtocol): string {
  if (WITHOUT_POSITIONS.has(name)) return 'no';
  if (poolTypes.includes(POOL_BINS)) return 'shares of bins';
  return poolTypes.some((type) => shapeOf(type).hasTicks) ? 'NFTs of the position manager' : 'LP tokens';
}

/** The rows of the document by the name of the protocol. */
export function writtenRows(): Map<string, string[]> {
  const rows = rowsOf(textOf(PROTOCOL_TABLE_PATH), ...HEADER);
  return new Map(rows.map((cells) => [(cells[0] ?? '').replaceAll('`', ''), cells]));
}

/** The table with the figures in the folder. A protocol without figures there keeps those of the document. */
export function makeTable(folder: string): string {
  const written = writtenRows();
  const rows = [...PROTOCOLS.values()].map((protocol) => {
    const path = join(folder, `${protocol.name}.json`);
    const figures = existsSync(path) ? cellsOf(readFileSync(path, 'utf8')) : null;
    return [
      ...describeProtocol(protocol),
      ...(figures ?? written.get(protocol.name)?.slice(FROM_CODE) ?? ['none', '0', 'unknown']),
    ];
  });
  return [HEADER, HEADER.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function cellsOf(text: string): string[] {
  const { oracle, trades, deviation } = JSON.parse(text) as OracleFigures;
  return [oracle, String(trades), deviation === 0 ? '0' : deviation.toExponential(1)];
}
