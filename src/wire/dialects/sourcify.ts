/** Shapes of the answers in the formats of Sourcify (API version 2) and of its signature database. */
import { z } from 'zod';

const jsonShape = z.record(z.string(), z.unknown());
const matchShape = z
  .enum(['exact_match', 'match'])
  .nullable()
  .meta({ description: 'exact_match: with metadata; match: without; null: not compared, or no match' });
const checksumAddressShape = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .meta({ description: 'Address with checksum' });

const minimalShape = z.object({
  matchId: z.string().nullable(),
  match: matchShape,
  creationMatch: matchShape,
  runtimeMatch: matchShape,
  chainId: z.string(),
  address: checksumAddressShape,
  verifiedAt: z.string().nullable().meta({ description: 'Time in ISO 8601, UTC' }),
});

const sourcesShape = z.record(z.string(), z.object({ content: z.string() }));
const signatureListShape = z.array(
  z.object({ signature: z.string(), signatureHash32: z.string(), signatureHash4: z.string() }),
);

/** A part of an object can be requested by its path, so the objects may be incomplete. */
export const sourcifyContractShape = z
  .looseObject({
    ...minimalShape.shape,
    abi: z.array(jsonShape).nullable().optional(),
    sources: sourcesShape.optional(),
    compilation: z
      .object({
        language: z.string(),
        compiler: z.string(),
        compilerVersion: z.string(),
        compilerSettings: jsonShape,
        name: z.string(),
        fullyQualifiedName: z.string(),
      })
      .partial()
      .optional(),
    deployment: z
      .object({
        transactionHash: z.string().nullable(),
        blockNumber: z.string().nullable(),
        transactionIndex: z.string().nullable(),
        deployer: checksumAddressShape.nullable(),
      })
      .partial()
      .optional(),
    stdJsonInput: z
      .object({ language: z.string(), sources: sourcesShape, settings: jsonShape })
      .partial()
      .optional(),
    signatures: z
      .object({ function: signatureListShape, event: signatureListShape, error: signatureListShape })
      .partial()
      .optional(),
    proxyResolution: z
      .object({
        isProxy: z.boolean(),
        proxyType: z.string().nullable(),
        implementations: z.array(z.object({ address: checksumAddressShape, name: z.string().optional() })),
      })
      .partial()
      .optional(),
    creationBytecode: jsonShape.optional(),
    runtimeBytecode: jsonShape.optional(),
    metadata: jsonShape.nullable().optional(),
    storageLayout: jsonShape.nullable().optional(),
    userdoc: jsonShape.nullable().optional(),
    devdoc: jsonShape.nullable().optional(),
    stdJsonOutput: jsonShape.nullable().optional(),
  })
  .meta({ id: 'SourcifyContract' });

export const sourcifyChainsShape = z
  .object({ results: z.array(minimalShape) })
  .meta({ id: 'SourcifyChains', description: 'The verifications of an address; the list of a 404 is empty' });

export const sourcifyErrorShape = z
  .object({
    customCode: z.string().meta({ description: 'Stable code, such as invalid_parameter' }),
    message: z.string(),
    errorId: z.string().meta({ description: 'The X-Request-Id of the answer' }),
  })
  .meta({ id: 'SourcifyError' });

export const sourcifyMissingShape = z.union([
  minimalShape
    .omit({ matchId: true, verifiedAt: true })
    .meta({ id: 'SourcifyMissing', description: 'The contract is not verified: all matches are null' }),
  sourcifyErrorShape,
]);

const namesShape = z.array(z.object({ name: z.string(), filtered: z.boolean() }));
export const signaturesShape = z
  .object({
    ok: z.literal(true),
    result: z.object({
      event: z.record(z.string(), namesShape),
      function: z.record(z.string(), namesShape.nullable()),
    }),
  })
  .meta({ id: 'Signatures', description: 'Names by topic0 and by selector' });
