/**
 * Sourcify's verification, API version 2: a request returns the id of a job, and the job tells the result.
 * https://docs.sourcify.dev/docs/api/
 */
import { getAddress } from 'ethers';
import { z } from 'zod';

import { findAddress } from '../../domain/address';
import type {
  VerificationDraft,
  VerificationJob,
  VerificationQueue,
  VerificationRequest,
  VerificationState,
} from '../../domain/verificationQueue';
import type { ContractId } from '../../domain/verifiedContract';
import { readContractView } from '../../query/contracts/contractView';
import { answering } from '../answering';
import type { DialectDeps } from '../etherscan/action';
import { TEXTS } from '../etherscan/answers';
import { chainParam } from '../explorerScope';
import { clientOf } from '../middleware/limitRate';
import { requiredAddressParam, required, textParam } from '../params';
import type { Route, RouteContext } from '../route';
import {
  metadataBodyShape,
  readMetadataBody,
  readSimilarityBody,
  readStandardJsonBody,
  similarityBodyShape,
  standardJsonBodyShape,
} from './readVerifyBody';
import { invalid, sourcifyRefusal, shortenText } from './refusals';
import { minimalOf } from './sourcifyFields';

type Draft = VerificationDraft & Pick<VerificationRequest, 'creationTransaction'>;

const acceptedShape = z.object({ verificationId: z.string() });
const jobShape = z.object({
  isJobCompleted: z.boolean(),
  verificationId: z.string(),
  jobStartTime: z.string(),
  jobFinishTime: z.string().optional(),
  contract: z.looseObject({
    match: z.enum(['exact_match', 'match']).nullable(),
    creationMatch: z.enum(['exact_match', 'match']).nullable(),
    runtimeMatch: z.enum(['exact_match', 'match']).nullable(),
    chainId: z.string(),
    address: z.string(),
  }),
  error: z.object({ customCode: z.string(), message: z.string(), errorId: z.string() }).optional(),
});

export function verifyRoutes(deps: DialectDeps): Route[] {
  return [
    verifyRoute(deps, {
      path: '/v2/verify/:chainId/:address',
      summary: 'Verify a contract from standard JSON, in the format of Sourcify',
      body: standardJsonBodyShape,
      async draft(ctx) {
        const { input, compilerVersion, contractName, creationTransaction } = await readStandardJsonBody(ctx);
        return { input, compilerVersion, contractName, creationTransaction };
      },
    }),
    verifyRoute(deps, {
      path: '/v2/verify/metadata/:chainId/:address',
      summary: "Verify a contract from Solidity's metadata.json, in the format of Sourcify",
      body: metadataBodyShape,
      draft: draftFromMetadata,
    }),
    verifyRoute(deps, {
      path: '/v2/verify/similarity/:chainId/:address',
      summary:
        'Verify a contract with the sources of a contract with the same code, in the format of Sourcify',
      body: similarityBodyShape,
      draft: (ctx, contract, queue) => draftFromTwin(deps, ctx, contract, queue),
    }),
    jobRoute(deps),
  ];
}

interface VerifyEndpoint {
  readonly path: string;
  readonly summary: string;
  readonly body: z.ZodType;
  /**
   * Builds the verification request, without the contract to verify. Null if the sources should come from a
   * verified contract with the same code, and there is none.
   */
  draft(ctx: RouteContext, contract: ContractId, queue: VerificationQueue): Promise<Draft | null>;
}

function verifyRoute(deps: DialectDeps, { path, summary, body, draft }: VerifyEndpoint): Route {
  return {
    path,
    method: 'post',
    doc: {
      summary,
      description:
        'The answer has status 202 and {verificationId}. GET /v2/verify/{verificationId} tells the result. Errors ' +
        'are {customCode, message, errorId}: 409 already_verified, 429 duplicate_verification_request and others.',
      tag: 'explorer',
      path: {
        chainId: chainParam(deps.chainIds),
        address: requiredAddressParam('address', 'Address of the contract'),
      },
      body,
      answer: acceptedShape,
      status: 202,
      errors: [400, 409, 503],
    },
    handle: answering(deps.cache, async (ctx) => {
      const contract = readContract(deps, ctx);
      const queue = deps.verifications?.() ?? null;
      if (queue === null) throw sourcifyRefusal(ctx, 503, 'internal_error', TEXTS.noVerification);
      const request = await draft(ctx, contract, queue);
      const verificationId =
        request === null
          ? queue.refuse(contract, 'no_similar_match_found', FAULT_MESSAGES.no_similar_match_found)
          : await submit(ctx, queue, { license: null, ...request, ...contract });
      ctx.status = 202;
      ctx.set('Cache-Control', 'no-store');
      return { key: null, read: () => Promise.resolve({ verificationId }) };
    }),
  };
}

function readContract(deps: DialectDeps, ctx: RouteContext): ContractId {
  const { chainId: chainText = '', address: addressText = '' } = ctx.params;
  const chainId = deps.chainIds.find((id) => String(id) === chainText);
  if (chainId === undefined)
    throw sourcifyRefusal(
      ctx,
      400,
      'unsupported_chain',
      `The chain with chainId ${shortenText(chainText)} is not supported`,
    );
  const address = findAddress(addressText);
  if (address === null) throw invalid(ctx, `Invalid address: ${shortenText(addressText)}`);
  return { chainId, address };
}

/** Returns the id of the job. */
async function submit(
  ctx: RouteContext,
  queue: VerificationQueue,
  request: VerificationRequest,
): Promise<string> {
  const { chainId } = request;
  const address = getAddress(request.address);
  const contractText = `Contract ${address} on chain ${chainId}`;
  if (queue.isOpen(request))
    throw sourcifyRefusal(
      ctx,
      429,
      'duplicate_verification_request',
      `${contractText} is already being verified`,
    );
  const submission = await queue.submit(request, clientOf(ctx.ip));
  switch (submission.kind) {
    case 'queued':
      return queue.idOf(submission.guid);
    case 'already_verified':
      throw sourcifyRefusal(
        ctx,
        409,
        'already_verified',
        `${contractText} is already verified with an exact match.`,
      );
    case 'no_code':
      return queue.refuse(
        request,
        'contract_not_deployed',
        `Chain #${chainId} does not have a contract deployed at ${address}.`,
      );
    case 'client_busy':
      throw sourcifyRefusal(
        ctx,
        429,
        'too_many_requests',
        `A client address may have ${submission.openMax} open verifications; retry after one has ended`,
      );
    case 'no_node':
      throw sourcifyRefusal(
        ctx,
        503,
        'cannot_fetch_bytecode',
        `Cannot fetch bytecode for chain #${chainId}, because no node of the chain is configured.`,
      );
  }
}

async function draftFromMetadata(
  ctx: RouteContext,
  contract: ContractId,
  queue: VerificationQueue,
): Promise<Draft> {
  const { metadata, sources, creationTransaction } = await readMetadataBody(ctx);
  const draft = await queue.draftFromMetadata(contract, metadata, sources);
  return { ...draft, creationTransaction };
}

/**
 * Builds a request from the sources of a verified contract with the same code. Null if there is no such
 * contract.
 */
async function draftFromTwin(
  deps: DialectDeps,
  ctx: RouteContext,
  contract: ContractId,
  queue: VerificationQueue,
): Promise<Draft | null> {
  const creationTransaction = await readSimilarityBody(ctx);
  const { record } = await readContractView(deps, contract.chainId, null, contract.address);
  if (record === null || record.language === 'Vyper') return null;
  const sources = await deps.verified.readSources(record);
  return { ...queue.draftFromRecord(record, sources), creationTransaction };
}

function jobRoute(deps: DialectDeps): Route {
  return {
    path: '/v2/verify/:verificationId',
    doc: {
      summary: 'The state of a verification job, in the format of Sourcify',
      description: 'An unknown id is a 404 with customCode job_not_found. The newest 2,000 jobs are kept.',
      tag: 'explorer',
      path: { verificationId: required(textParam({ max: 80, description: 'Id of the job' })) },
      answer: jobShape,
      errors: [404, 503],
    },
    handle: answering(deps.cache, async (ctx) => {
      const { verificationId = '' } = ctx.params;
      const job = deps.verifications?.()?.job(verificationId) ?? null;
      if (job === null)
        throw sourcifyRefusal(
          ctx,
          404,
          'job_not_found',
          `The verification job with id ${shortenText(verificationId)} was not found`,
        );
      const answer = await describeJob(deps, job);
      ctx.set('Cache-Control', 'no-store');
      return { key: null, read: () => Promise.resolve(answer) };
    }),
  };
}

async function describeJob(deps: DialectDeps, job: VerificationJob): Promise<z.infer<typeof jobShape>> {
  const { id, chainId, address, state, startedAt, finishedAt } = job;
  const record = state.state === 'verified' ? await deps.verified.find({ chainId, address }, null) : null;
  const noMatch = { match: null, creationMatch: null, runtimeMatch: null } as const;
  const error = errorOf(state);
  return {
    isJobCompleted: finishedAt !== null,
    verificationId: id,
    jobStartTime: new Date(startedAt).toISOString(),
    ...(finishedAt === null ? {} : { jobFinishTime: new Date(finishedAt).toISOString() }),
    contract:
      record === null
        ? { ...noMatch, ...matchOf(state), chainId: String(chainId), address: getAddress(address) }
        : { ...minimalOf(record) },
    ...(error === null ? {} : { error: { ...error, errorId: id } }),
  };
}

function matchOf(
  state: VerificationState,
): Pick<z.infer<typeof jobShape>['contract'], 'match' | 'runtimeMatch'> {
  const match = state.state === 'verified' ? state.status : null;
  return { match, runtimeMatch: match };
}

const FAULT_MESSAGES = {
  already_verified: "The contract is already verified and the job didn't yield a better match.",
  no_similar_match_found: 'No similar verified contracts were found in the database.',
} as const;

function errorOf(state: VerificationState): { customCode: string; message: string } | null {
  switch (state.state) {
    case 'pending':
    case 'verified':
      return null;
    case 'already_verified':
      return { customCode: 'already_verified', message: FAULT_MESSAGES.already_verified };
    case 'failed':
      return { customCode: state.fault, message: state.reason };
  }
}
