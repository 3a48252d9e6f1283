/** Shapes of the answers in the formats of Sourcify (API version 2) and of its signature database. */
import { z } from 'zod';

const json = z.record(z.string(), z.unknown());
const matchShape = z
  .enum(['exact_match', 'match'])
  .nullable()
  .meta({ description: 'exact_match: with metadata; match: without; null: not compared, or no match' });
const checksummed = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .meta({ description: 'Address with checksum' });

const minimalShape = z.object({
  matchId: z.string().nullable(),
  match: matchShape,
  creationMatch: matchShape,
  runtimeMatch: matchShape,
  chainId: z.string(),
  address: checksummed,
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
    abi: z.array(json).nullable().optional(),
    sources: sourcesShape.optional(),
    compilation: z
      .object({
        language: z.string(),
        compiler: z.string(),
        compilerVersion: z.string(),
        compilerSettings: json,
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
        deployer: checksummed.nullable(),
      })
      .partial()
      .optional(),
    stdJsonInput: z
      .object({ language: z.string(), sources: sourcesShape, settings: json })
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
        implementations: z.array(z.object({ address: checksummed, name: z.string().optional() })),
      })
      .partial()
      .optional(),
    creationBytecode: json.optional(),
    runtimeBytecode: json.optional(),
    metadata: json.nullable().optional(),
    storageLayout: json.nullable().optional(),
    userdoc: json.nullable().optional(),
    devdoc: json.nullable().optional(),
    stdJsonOutput: json.nullable().optional(),
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
