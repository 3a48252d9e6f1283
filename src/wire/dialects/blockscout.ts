/** Shapes of the answers in the format of Blockscout (API version 2). */
import { z } from 'zod';

const text = z.string();
const checksummed = text.regex(/^0x[0-9a-fA-F]{40}$/).meta({ description: 'Address with checksum' });

export const blockscoutContractShape = z
  .looseObject({
    name: text,
    language: text.meta({ description: 'In lower case' }),
    compiler_version: text,
    optimization_enabled: z.boolean(),
    optimization_runs: z.int(),
    evm_version: text,
    verified_at: text.meta({ description: 'Time in ISO 8601, UTC' }),
    abi: z.array(z.record(text, z.unknown())),
    source_code: text.meta({ description: 'The file with the contract' }),
    file_path: text,
    additional_sources: z.array(z.object({ file_path: text, source_code: text })),
    compiler_settings: z.unknown(),
    external_libraries: z.array(z.object({ name: text, address_hash: checksummed })),
    constructor_args: text.nullable().meta({ description: 'Hex without 0x; null if unknown' }),
    decoded_constructor_args: z.array(z.unknown()).nullable(),
    license_type: text.nullable(),
    is_verified: z.literal(true),
    is_fully_verified: z.boolean(),
    is_partially_verified: z.boolean(),
    is_changed_bytecode: z.boolean(),
    is_verified_via_sourcify: z.boolean(),
    verified_twin_address_hash: checksummed.nullable(),
    proxy_type: text.nullable(),
    implementations: z.array(z.object({ address_hash: checksummed, name: text.nullable() })),
    conflicting_implementations: z.null(),
    deployed_bytecode: text.nullable().meta({ description: 'From the node; null if it does not answer' }),
    creation_bytecode: text.nullable().meta({
      description: 'Creation code with arguments; null if another contract created this one',
    }),
    creation_status: text.nullable(),
    certified: z.boolean(),
  })
  .meta({ id: 'BlockscoutContract' });

export const blockscoutMissingShape = z.object({ message: text }).meta({ id: 'BlockscoutMissing' });

export const blockscoutInvalidShape = z
  .object({
    errors: z.array(z.object({ title: text, source: z.object({ pointer: text }), detail: text })),
  })
  .meta({ id: 'BlockscoutInvalid' });
