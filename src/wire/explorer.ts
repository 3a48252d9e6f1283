/** Shapes of the explorer's answers: decoded logs, contracts and search hits. */
import { z } from 'zod';

import {
  addressShape,
  poolShape,
  chainIdShape,
  countShape,
  dexNameShape,
  hashShape,
  unixSecondsShape,
  explorerMetaShape,
} from './primitives';

const dataShape = z
  .string()
  .regex(/^0x([0-9a-f]{2})*$/)
  .meta({ description: 'Bytes, lower-case hex' });

/** Nested values of tuples and arrays. OpenAPI describes them no further. */
const decodedValueShape = z.unknown().meta({
  description:
    'Value of the argument: integers as base-10 strings, addresses and bytes as lower-case hex, ' +
    'arrays as lists, tuples as lists of {name, type, value}. Bytes of a text that are not valid UTF-8 are U+FFFD',
});

const decodedShape = z
  .object({
    name: z.string().meta({ description: 'Name of the event' }),
    signature: z.string().meta({
      description: 'Name and parameter types of the event',
      example: 'Transfer(address,address,uint256)',
    }),
    args: z
      .array(
        z.object({
          position: countShape.meta({ description: 'Index among all parameters of the event, from 0' }),
          name: z.string().meta({ description: 'Name of the parameter; empty if the ABI has none' }),
          type: z.string().meta({ description: 'Solidity type', example: 'uint256' }),
          indexed: z.boolean().meta({ description: 'Whether the argument is a topic' }),
          value: decodedValueShape,
          raw: z
            .unknown()
            .optional()
            .meta({
              description:
                'The bytes of a text that is not valid UTF-8, lower-case hex. Of an array, one entry per item, null for a ' +
                'valid text. A field of a tuple has its own `raw`',
            }),
          truncated: z
            .literal(true)
            .optional()
            .meta({
              description:
                'Set if `data` is truncated within the argument: `value` is the part before the cut, null if ' +
                'nothing is left',
            }),
          hashed: z.literal(true).optional().meta({
            description: 'Set if `value` is the keccak256 of the argument: the log holds only this hash',
          }),
        }),
      )
      .meta({ description: 'Arguments in the order of the signature' }),
  })
  .meta({ id: 'DecodedLog' });

const logEntryShape = z
  .object({
    id: z
      .string()
      .regex(/^\d+-\d+$/)
      .meta({ description: 'Id of the log: <block_number>-<log_index>', example: '17686110-42' }),
    chain_id: chainIdShape,
    address: addressShape.meta({ description: 'Contract that emitted the log' }),
    block_number: countShape.meta({ description: 'Block number' }),
    block_hash: hashShape
      .nullable()
      .meta({ description: 'Hash of the block; null if the block is not stored' }),
    timestamp: unixSecondsShape.meta({ description: 'Block time, unix seconds, UTC' }),
    tx_hash: hashShape.nullable().meta({
      description:
        'Transaction hash; null if the log belongs to the block itself, and to none of its transactions',
    }),
    tx_index: countShape.meta({
      description:
        'Index of the transaction in its block, from 0; the number of transactions if `tx_hash` is null',
    }),
    log_index: countShape.meta({ description: 'Index of the log in its block, from 0' }),
    topics: z.array(hashShape).meta({ description: 'The topics of the log, 0 to 4' }),
    data: dataShape.meta({
      description: 'Data of the log, lower-case hex; at most 65,536 bytes unless limit=1',
    }),
    data_truncated: z.literal(true).optional().meta({
      description: 'Set if `data` has only the first 65,536 bytes; limit=1 returns the whole data',
    }),
    data_bytes: countShape
      .optional()
      .meta({ description: 'Length of the whole data in bytes; present if data_truncated is set' }),
    decoded: decodedShape.nullable().meta({
      description:
        'The decoded event, by the ABI of the contract, by the ABI of its implementation at the time of ' +
        'the log, or by a known signature; null if none of them fits',
    }),
    finalized: z.boolean().meta({ description: 'Whether the block is final: no reorg can remove the log' }),
  })
  .meta({ id: 'LogEntry' });
export type LogEntry = z.infer<typeof logEntryShape>;

const logsMetaShape = explorerMetaShape.extend({
  next_cursor: z
    .string()
    .nullable()
    .meta({
      description:
        'Value of `cursor` for the next page; null if no logs follow. A page can be shorter than `limit` ' +
        'and still have a cursor: a search stops after 3 s, and a page ends at about 8 MB',
    }),
});

const successShape = z.literal(true);

export const logsAnswerShape = z.object({
  success: successShape,
  data: z.array(logEntryShape),
  meta: logsMetaShape,
});
export type LogsAnswer = z.infer<typeof logsAnswerShape>;

const proxyShape = z.object({
  kind: z.string().meta({
    description:
      'Standard of the proxy: eip1967, eip1967_beacon, eip1822, eip1167 (any clone), openzeppelin_legacy, eip2535, ' +
      'eip7702 (account with delegated code), safe, custom_slot or beacon',
  }),
  implementation: addressShape.nullable().meta({
    description: 'Current implementation; null if it is unknown or the proxy uses several contracts',
  }),
});

const tokenShape = z.object({
  symbol: z.string().nullable().meta({ description: 'Symbol of the token; null if the contract has none' }),
  name: z.string().nullable().meta({ description: 'Name of the token; null if the contract has none' }),
  decimals: z.int().nullable().meta({ description: 'Decimals of the token, 0 to 77; null if unknown' }),
});

const contractSummaryFields = {
  chain_id: chainIdShape,
  address: addressShape.meta({ description: 'Address of the contract' }),
  name: z
    .string()
    .nullable()
    .meta({ description: 'Name in the verified source, or else the token name; null if neither exists' }),
  type: z.enum(['token', 'pair', 'proxy', 'other']).meta({
    description:
      'pair: pool of a configured DEX; token: token that a DEX trades; proxy: other proxy; other: every other contract',
  }),
  verified: z.boolean().meta({
    description: 'Whether the source is verified, of this contract or of another one with the same code',
  }),
  proxy: proxyShape
    .nullable()
    .meta({ description: 'Proxy data; null if the contract is not known to be a proxy' }),
  creation_block: countShape.nullable().meta({ description: 'Block of the creation; null if unknown' }),
  created_at: unixSecondsShape
    .nullable()
    .meta({ description: 'Time of the creation block, unix seconds, UTC; null if unknown' }),
  first_seen_block: countShape.nullable().meta({
    description: 'Block of the creation or of the first log, whichever is earlier; null if unknown',
  }),
  last_seen_block: countShape.nullable().meta({
    description: 'Block of the last log; without logs the block of the creation; null if unknown',
  }),
  log_count: countShape.meta({ description: 'Number of indexed logs of the contract' }),
} as const;

const contractSummaryShape = z
  .object({
    ...contractSummaryFields,
    token: tokenShape
      .nullable()
      .meta({ description: 'Token data; null if no configured DEX trades the contract as a token' }),
  })
  .meta({ id: 'ContractSummary' });
export type ContractSummary = z.infer<typeof contractSummaryShape>;

export const contractsAnswerShape = z.object({
  success: successShape,
  data: z.array(contractSummaryShape),
  meta: explorerMetaShape,
});

const contractRecordShape = z
  .object({
    ...contractSummaryFields,
    verification: z.object({
      status: z.enum(['exact_match', 'match']).nullable().meta({
        description:
          'exact_match: the code and the metadata hash match; match: the code matches; null if not verified',
      }),
      verified_at: unixSecondsShape
        .nullable()
        .meta({ description: 'Time of the verification, unix seconds, UTC; null if not verified' }),
      source: z
        .string()
        .nullable()
        .meta({
          description:
            'Origin of the verification: local (compiled by this service), sourcify or blockscout (imported), ' +
            'ancestor:1 (same address and code on chain 1), twin (other contract with the same code); null if ' +
            'not verified',
        }),
      twin_of: z
        .object({ chain_id: chainIdShape, address: addressShape })
        .nullable()
        .meta({ description: 'The verified contract with the same code; null unless `source` is twin' }),
    }),
    compiler: z
      .object({
        name: z.string().meta({ description: 'Name of the compiler: solc or vyper' }),
        version: z.string().meta({ description: 'Version of the compiler without a leading v' }),
      })
      .nullable()
      .meta({ description: 'Version of the compiler; null if not verified' }),
    language: z.string().nullable().meta({ description: 'Solidity, Vyper or Yul; null if not verified' }),
    optimization: z
      .object({
        enabled: z.boolean().meta({ description: 'Whether the optimizer was on' }),
        runs: z.int().meta({ description: 'Optimizer runs' }),
      })
      .nullable()
      .meta({ description: 'Runs of the optimizer; null if not verified' }),
    evm_version: z
      .string()
      .nullable()
      .meta({ description: 'EVM version; null if not verified, or for the default of the compiler' }),
    license: z.string().nullable().meta({ description: 'SPDX identifier; null if not given' }),
    abi: z.array(z.unknown()).nullable().meta({ description: 'ABI of the compiler; null if not verified' }),
    sources: z
      .array(
        z.object({
          path: z.string().meta({ description: 'Path of the file' }),
          content: z.string().meta({ description: 'Content of the file' }),
        }),
      )
      .nullable()
      .meta({ description: 'Source files; null if not verified' }),
    constructor_args: dataShape
      .nullable()
      .meta({ description: 'ABI-encoded constructor arguments, lower-case hex; null if unknown' }),
    creator: addressShape
      .nullable()
      .meta({ description: 'Sender of the creating transaction; null if unknown' }),
    factory: addressShape
      .nullable()
      .meta({ description: 'Contract that created this one; null if unknown or created by a transaction' }),
    creation_tx: hashShape.nullable().meta({ description: 'Creating transaction; null if unknown' }),
    code_hash: hashShape.nullable().meta({ description: 'keccak256 of the runtime code; null if unknown' }),
    code_size: countShape
      .nullable()
      .meta({ description: 'Size of the runtime code in bytes; null if unknown' }),
    token: tokenShape
      .extend({
        total_supply: z
          .string()
          .nullable()
          .meta({ description: 'Total supply, whole tokens; null if unknown' }),
      })
      .nullable()
      .meta({ description: 'Token data; null if no configured DEX trades the contract as a token' }),
    pair: z
      .object({
        dex_name: dexNameShape,
        pool_type: z
          .int()
          .meta({ description: 'Pool type: 2 = V2, 3 = V3, 4 = weighted, 5 = stable, 6 = crypto, 7 = bins' }),
        factory: addressShape.meta({ description: 'Factory or vault of the pool' }),
        fee_bps: z.number().meta({ description: 'Fee in basis points; may be fractional' }),
        tokens: z
          .array(tokenShape.extend({ address: addressShape }))
          .meta({ description: 'All tokens of the pool, in chain order' }),
      })
      .nullable()
      .meta({ description: 'Pool data; null if the contract is not a pool of a configured DEX' }),
    upgrades: z
      .array(
        z.object({
          block_number: countShape.meta({ description: 'Block of the upgrade' }),
          log_index: countShape.nullable().meta({
            description:
              'Index of the log in its block, from 0; null for a change without a log, which the node saw',
          }),
          kind: z.enum(['implementation', 'beacon', 'diamond', 'delegation']).meta({
            description:
              'implementation, beacon or diamond: as in the log Upgraded, BeaconUpgraded or DiamondCut, or without a ' +
              'log; delegation: delegated code of an account',
          }),
          targets: z.array(addressShape).meta({
            description:
              'Contracts that the proxy uses from here on; for the log of a beacon proxy its beacon; empty after a withdrawal',
          }),
        }),
      )
      .meta({
        description: 'Upgrades of the proxy from its logs and its state, newest first, at most 100',
      }),
    code_history: z
      .array(
        z.object({
          from_block: countShape.meta({
            description: 'Block from whose end on the address had this code and these targets',
          }),
          code_hash: hashShape.nullable().meta({ description: 'keccak256 of the code; null without code' }),
          code_size: countShape.meta({ description: 'Size of the code in bytes' }),
          proxy: z
            .object({
              kind: z.string().meta({ description: 'Standard of the proxy, as in proxy.kind' }),
              targets: z.array(addressShape).meta({ description: 'Implementation, or facets of a diamond' }),
            })
            .nullable()
            .meta({ description: 'Proxy data; null if the code is not a known proxy' }),
        }),
      )
      .meta({
        description:
          'What stood at the address over time, newest first, at most 100; before the oldest entry the code is unknown',
      }),
  })
  .meta({ id: 'ContractRecord' });
export type ContractRecord = z.infer<typeof contractRecordShape>;

export const contractAnswerShape = z.object({ success: successShape, data: contractRecordShape });

const HIT_TYPES = [
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

const searchHitShape = z
  .object({
    type: z.enum(HIT_TYPES).meta({ description: 'Kind of the object; address: an account without code' }),
    chain_id: chainIdShape,
    address: poolShape.optional().meta({
      description: 'Address of an account, a contract, a token or a pair, or of the factory of a DEX',
    }),
    hash: z.string().optional().meta({
      description: 'Hash of a transaction or block, topic0 of an event, or selector of a function',
    }),
    number: countShape.optional().meta({ description: 'Number of a block' }),
    title: z.string().meta({ description: 'Text to show, at most 200 characters' }),
    subtitle: z
      .string()
      .nullable()
      .meta({ description: 'Line below the title, at most 200 characters; null if there is none' }),
    verified: z.boolean().meta({ description: 'Whether the source of the contract is verified' }),
    score: z.number().meta({
      description:
        'Rank from 0 to 1. The quality of the name match decides first; verification and log count break ties',
    }),
  })
  .meta({ id: 'SearchHit' });
export type SearchHit = z.infer<typeof searchHitShape>;

export const searchAnswerShape = z.object({
  success: successShape,
  data: z.array(searchHitShape),
  meta: explorerMetaShape,
});
