/** Shapes of the explorer's answers: decoded logs, contracts and search hits. */
import { z } from 'zod';

import { explorerMetaShape } from './explorerMeta';
import { addressShape, countShape, hashShape, unixSecondsShape } from './primitives';

const dataShape = z
  .string()
  .regex(/^0x([0-9a-f]{2})*$/)
  .meta({ description: 'Bytes, lower-case hex' });

/** Nested values of tuples and arrays. OpenAPI describes them no further. */
const decodedValueShape = z.unknown().meta({
  description:
    'Integers as base-10 strings, addresses and bytes as lower-case hex, arrays as lists, tuples as lists of {name, type, value}',
});

export const decodedShape = z
  .object({
    name: z.string(),
    signature: z.string().meta({ example: 'Transfer(address,address,uint256)' }),
    args: z.array(
      z.object({
        position: countShape.meta({ description: 'Place among the parameters of the event, from 0' }),
        name: z.string().meta({ description: 'Empty where the ABI names none' }),
        type: z.string(),
        indexed: z.boolean(),
        value: decodedValueShape,
        truncated: z
          .literal(true)
          .optional()
          .meta({ description: 'The value is the part within the kept `data`; null: none of it' }),
        hashed: z
          .literal(true)
          .optional()
          .meta({ description: 'The value is the keccak256 of the indexed one, which no log holds' }),
      }),
    ),
  })
  .meta({ id: 'DecodedLog' });

export const logEntryShape = z
  .object({
    id: z
      .string()
      .regex(/^\d+-\d+$/)
      .meta({ description: '<block_number>-<log_index>', example: '17686110-42' }),
    chain_id: z.int(),
    address: addressShape,
    block_number: countShape,
    block_hash: hashShape.nullable(),
    timestamp: unixSecondsShape,
    tx_hash: hashShape,
    tx_index: countShape,
    log_index: countShape,
    topics: z.array(hashShape),
    data: dataShape,
    data_truncated: z
      .literal(true)
      .optional()
      .meta({ description: '`data` is the first 65,536 of `data_bytes` bytes; ask with `limit=1` for all' }),
    data_bytes: countShape
      .optional()
      .meta({ description: 'Where `data_truncated`: bytes of the whole data' }),
    decoded: decodedShape.nullable().meta({
      description:
        'By the ABI of the contract or of the implementation live at the log, else by known signatures; null: nothing fits',
    }),
    finalized: z.boolean(),
  })
  .meta({ id: 'LogEntry' });
export type LogEntry = z.infer<typeof logEntryShape>;

export const logsMetaShape = explorerMetaShape.extend({
  total: countShape.meta({ description: 'Logs that match, counted up to 10,000' }),
  total_exact: z.boolean().meta({ description: 'false: there may be more than `total`' }),
  next_cursor: z.string().nullable().meta({
    description:
      'Pass as `cursor` to go on; null: there are no more. A page may be short and have one: a search is given up after some seconds, and a page ends at about 8 MB',
  }),
});

const success = z.literal(true);

export const logsAnswerShape = z.object({ success, data: z.array(logEntryShape), meta: logsMetaShape });
export type LogsAnswer = z.infer<typeof logsAnswerShape>;

const proxyShape = z.object({
  kind: z
    .string()
    .meta({ description: 'eip1967, eip1967_beacon, eip1822, eip1167, openzeppelin_legacy or eip2535' }),
  implementation: addressShape.nullable().meta({ description: 'null where it is not one contract' }),
});

const tokenShape = z.object({
  symbol: z.string().nullable(),
  name: z.string().nullable(),
  decimals: z.int().nullable(),
});

const summary = {
  chain_id: z.int(),
  address: addressShape,
  name: z.string().nullable(),
  type: z.enum(['token', 'pair', 'proxy', 'other']),
  verified: z.boolean(),
  proxy: proxyShape.nullable(),
  creation_block: countShape.nullable(),
  created_at: unixSecondsShape.nullable(),
  first_seen_block: countShape.nullable(),
  last_seen_block: countShape.nullable(),
  log_count: countShape,
} as const;

export const contractSummaryShape = z
  .object({ ...summary, token: tokenShape.nullable() })
  .meta({ id: 'ContractSummary' });
export type ContractSummary = z.infer<typeof contractSummaryShape>;

export const contractsAnswerShape = z.object({
  success,
  data: z.array(contractSummaryShape),
  meta: explorerMetaShape,
});

export const contractRecordShape = z
  .object({
    ...summary,
    verification: z.object({
      status: z.enum(['exact_match', 'match']).nullable(),
      verified_at: unixSecondsShape.nullable(),
      source: z.string().nullable().meta({ description: 'sourcify, blockscout, local, ancestor:1 or twin' }),
      twin_of: z
        .object({ chain_id: z.int(), address: addressShape })
        .nullable()
        .meta({ description: 'The contract with the same code whose verification this is' }),
    }),
    compiler: z.object({ name: z.string(), version: z.string() }).nullable(),
    language: z.string().nullable(),
    optimization: z.object({ enabled: z.boolean(), runs: z.int() }).nullable(),
    evm_version: z.string().nullable(),
    license: z.string().nullable(),
    abi: z.array(z.unknown()).nullable(),
    sources: z.array(z.object({ path: z.string(), content: z.string() })).nullable(),
    constructor_args: dataShape.nullable(),
    creator: addressShape.nullable(),
    factory: addressShape.nullable(),
    creation_tx: hashShape.nullable(),
    code_hash: hashShape.nullable(),
    code_size: countShape.nullable(),
    token: tokenShape.extend({ total_supply: z.string().nullable() }).nullable(),
    pair: z
      .object({
        dex_name: z.string(),
        pool_type: z.int(),
        factory: addressShape,
        fee_bps: z.number(),
        tokens: z.array(tokenShape.extend({ address: addressShape })),
      })
      .nullable(),
    upgrades: z
      .array(
        z.object({
          block_number: countShape,
          log_index: countShape,
          kind: z.enum(['implementation', 'beacon', 'diamond']),
          targets: z.array(addressShape),
        }),
      )
      .meta({
        description: 'By its Upgraded, BeaconUpgraded and DiamondCut logs, newest first, at most 100',
      }),
  })
  .meta({ id: 'ContractRecord' });
export type ContractRecord = z.infer<typeof contractRecordShape>;

export const contractAnswerShape = z.object({ success, data: contractRecordShape });

export const HIT_TYPES = [
  'address',
  'contract',
  'token',
  'pair',
  'tx',
  'block',
  'dex',
  'event',
  'function',
] as const;

export const searchHitShape = z
  .object({
    type: z.enum(HIT_TYPES),
    chain_id: z.int(),
    address: addressShape.optional(),
    hash: z
      .string()
      .optional()
      .meta({ description: 'Of a transaction, a block, or the selector of a signature' }),
    number: countShape.optional().meta({ description: 'Of a block' }),
    title: z.string(),
    subtitle: z.string().nullable(),
    verified: z.boolean(),
    score: z.number().meta({
      description:
        '0 to 1: exact, then prefixes, then parts; verified first; then by logs, as counted within the last ten minutes',
    }),
  })
  .meta({ id: 'SearchHit' });
export type SearchHit = z.infer<typeof searchHitShape>;

export const searchAnswerShape = z.object({
  success,
  data: z.array(searchHitShape),
  meta: explorerMetaShape,
});
