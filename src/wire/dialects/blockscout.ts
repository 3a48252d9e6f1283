/** Shapes of the answers in the format of Blockscout (API version 2). */
import { z } from 'zod';

const textShape = z.string();
const checksumAddressShape = textShape
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .meta({ description: 'Address with checksum' });

export const blockscoutContractShape = z
  .looseObject({
    name: textShape,
    language: textShape.meta({ description: 'In lower case' }),
    compiler_version: textShape,
    optimization_enabled: z.boolean(),
    optimization_runs: z.int(),
    evm_version: textShape,
    verified_at: textShape.meta({ description: 'Time in ISO 8601, UTC' }),
    abi: z.array(z.record(textShape, z.unknown())),
    source_code: textShape.meta({ description: 'The file with the contract' }),
    file_path: textShape,
    additional_sources: z.array(z.object({ file_path: textShape, source_code: textShape })),
    compiler_settings: z.unknown(),
    external_libraries: z.array(z.object({ name: textShape, address_hash: checksumAddressShape })),
    constructor_args: textShape.nullable().meta({ description: 'Hex without 0x; null if unknown' }),
    decoded_constructor_args: z.array(z.unknown()).nullable(),
    license_type: textShape.nullable(),
    is_verified: z.literal(true),
    is_fully_verified: z.boolean(),
    is_partially_verified: z.boolean(),
    is_changed_bytecode: z.boolean(),
    is_verified_via_sourcify: z.boolean(),
    verified_twin_address_hash: checksumAddressShape.nullable(),
    proxy_type: textShape.nullable(),
    implementations: z.array(z.object({ address_hash: checksumAddressShape, name: textShape.nullable() })),
    conflicting_implementations: z.null(),
    deployed_bytecode: textShape
      .nullable()
      .meta({ description: 'From the node; null if it does not answer' }),
    creation_bytecode: textShape.nullable().meta({
      description: 'Creation code with arguments; null if another contract created this one',
    }),
    creation_status: textShape.nullable(),
    certified: z.boolean(),
  })
  .meta({ id: 'BlockscoutContract' });

export const blockscoutMissingShape = z.object({ message: textShape }).meta({ id: 'BlockscoutMissing' });

export const blockscoutInvalidShape = z
  .object({
    errors: z.array(
      z.object({ title: textShape, source: z.object({ pointer: textShape }), detail: textShape }),
    ),
  })
  .meta({ id: 'BlockscoutInvalid' });
