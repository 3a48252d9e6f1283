/**
 * Sourcify's contract look-up, API version 2: GET /v2/contract/{chainId}/{address} with `fields` or `omit`, and the
 * same address on all chains. Errors have Sourcify's format. https://docs.sourcify.dev/docs/api/
 */
import { getAddress } from 'ethers';

import { findAddress } from '../../domain/address';
import type { Hex } from '../../domain/hex';
import { findVerification } from '../../query/contracts/contractFacts';
import { readContractView } from '../../query/contracts/contractView';
import { readCode, readCreation } from '../../query/contracts/creationCode';
import {
  sourcifyChainsShape,
  sourcifyContractShape,
  sourcifyErrorShape,
  sourcifyMissingShape,
} from '../../wire/dialects/sourcify';
import { answering, Refusal } from '../answering';
import type { DialectDeps } from '../etherscan/action';
import { chainParam, questionOf, type ChainAtHead } from '../explorerScope';
import { requiredAddressParam, textParam } from '../params';
import type { Route, RouteContext } from '../route';
import { findMistyped } from '../suggestName';
import { contractList } from './contractList';
import { invalid, sourcifyRefusal, shortenText } from './refusals';
import { signatureLookup } from './signatureLookup';
import { fieldsOf, isFieldPath, minimalOf, SOURCIFY_FIELDS, type SourcifyField } from './sourcifyFields';
import { verifyRoutes } from './verifyRoutes';

const FIELDS_LENGTH_MAX = 1_000;

type Json = Readonly<Record<string, unknown>>;

export function sourcifyRoutes(deps: DialectDeps): Route[] {
  // The route with the fixed word `all-chains` must come before the route with a chain id.
  return [allChains(deps), contract(deps), contractList(deps), ...verifyRoutes(deps), signatureLookup(deps)];
}

function contract(deps: DialectDeps): Route {
  return {
    path: '/v2/contract/:chainId/:address',
    doc: {
      summary: 'A verified contract in the format of Sourcify',
      description:
        'Every answer has matchId, match, creationMatch, runtimeMatch, chainId, address and verifiedAt. `fields` and `omit` ' +
        `choose more fields: ${SOURCIFY_FIELDS.join(', ')}. A dot chooses a part of a field, as in compilation.name. Unknown ` +
        'values are null. A contract that is not verified is a 404 with match null.',
      tag: 'explorer',
      path: {
        chainId: chainParam(deps.chainIds),
        address: requiredAddressParam('address', 'Address of the contract'),
      },
      query: {
        fields: textParam({
          max: FIELDS_LENGTH_MAX,
          description: 'Comma list of additional fields, or `all`',
        }),
        omit: textParam({
          max: FIELDS_LENGTH_MAX,
          description:
            'Comma list of fields to leave out; the answer has all other fields. Not together with `fields`',
        }),
      },
      answer: sourcifyContractShape,
      hasExample: false,
      errors: [503],
      dialectErrors: { 400: sourcifyErrorShape, 404: sourcifyMissingShape },
    },
    handle: answering(deps.cache, (ctx) => {
      const { chainId: chainText = '', address: addressText = '' } = ctx.params;
      const chainId = deps.chainIds.find((id) => String(id) === chainText);
      if (chainId === undefined) throw unsupported(ctx, chainText);
      const address = findAddress(addressText);
      if (address === null) throw invalid(ctx, `Invalid address: ${shortenText(addressText)}`);
      const paths = readFields(ctx);
      return questionOf(deps, ctx, chainId, `sourcify ${address} ${paths.join()}`, (chainAtHead) =>
        readAnswer(deps, chainId, chainAtHead, address, paths),
      );
    }),
  };
}

function notVerified(chainId: number, address: Hex): Json {
  return {
    match: null,
    creationMatch: null,
    runtimeMatch: null,
    chainId: String(chainId),
    address: getAddress(address),
  };
}

/** Reads the fields of a verified contract. Throws a 404 if it is not verified. */
async function readAnswer(
  deps: DialectDeps,
  chainId: number,
  chainAtHead: ChainAtHead | null,
  address: Hex,
  paths: readonly string[],
): Promise<Json> {
  const view = await readContractView(deps, chainId, chainAtHead, address);
  const { record } = view;
  if (record === null) throw new Refusal(404, notVerified(chainId, address));
  if (paths.length === 0) return { ...minimalOf(record) };
  const isRequested = (field: SourcifyField): boolean =>
    paths.some((path) => path === field || path.startsWith(`${field}.`));
  const node = deps.relayOf?.(chainId) ?? null;
  const transaction = view.facts?.creation?.txHash ?? null;
  const creationHash = isRequested('deployment') || isRequested('creationBytecode') ? transaction : null;
  const [sources, runtimeCode, creation, outputs] = await Promise.all([
    isRequested('sources') || isRequested('stdJsonInput') ? deps.verified.readSources(record) : [],
    isRequested('runtimeBytecode') && chainAtHead !== null ? readCode(node, chainAtHead.head, address) : null,
    readCreation(node, { chainId, address }, creationHash),
    OUTPUT_FIELDS.some(isRequested) ? deps.verified.readOutputs(record) : {},
  ]);
  const allFields = fieldsOf(record, view, { sources, runtimeCode, creation, outputs });
  const answer: Record<string, unknown> = { ...minimalOf(record) };
  for (const path of paths) copyPath(allFields, answer, path.split('.'));
  return answer;
}

/** Fields that come from the output of the compiler. */
const OUTPUT_FIELDS: readonly SourcifyField[] = [
  'creationBytecode',
  'runtimeBytecode',
  'metadata',
  'storageLayout',
  'userdoc',
  'devdoc',
  'stdJsonOutput',
];

/** Copies one value by its path, and creates the objects around it. */
function copyPath(
  source: Json,
  target: Record<string, unknown>,
  [key = '', ...rest]: readonly string[],
): void {
  const value = Object.hasOwn(source, key) ? source[key] : null;
  if (rest.length === 0 || !isObject(value)) {
    target[key] = value ?? null;
    return;
  }
  const innerTarget = isObject(target[key]) ? { ...target[key] } : {};
  copyPath(value, innerTarget, rest);
  target[key] = innerTarget;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The requested fields, without the fields that every answer has. */
function readFields(ctx: RouteContext): readonly string[] {
  const query = new URLSearchParams(ctx.querystring);
  const fault = findMistyped(query, ['fields', 'omit']);
  if (fault !== null) throw invalid(ctx, fault);
  const [fields, omit] = [query.get('fields'), query.get('omit')];
  if (fields !== null && omit !== null) throw invalid(ctx, 'Cannot specify both fields and omit');
  if (fields === 'all') return SOURCIFY_FIELDS;
  const askedFields = (fields ?? omit ?? '').split(',').filter((path) => path !== '');
  const minimalFields: ReadonlySet<string> = new Set(MINIMAL_FIELDS);
  const unknownField = askedFields.find(
    (path) => !/^[a-z]\w*(\.[a-z]\w*){0,3}$/i.test(path) || !(minimalFields.has(path) || isFieldPath(path)),
  );
  if (unknownField !== undefined)
    throw invalid(ctx, `Field identifier ${shortenText(unknownField)} not recognized`);
  if (omit !== null) return SOURCIFY_FIELDS.filter((field) => !askedFields.includes(field));
  return askedFields.filter((path) => !minimalFields.has(path));
}

const MINIMAL_FIELDS = [
  'matchId',
  'match',
  'creationMatch',
  'runtimeMatch',
  'chainId',
  'address',
  'verifiedAt',
];

function allChains(deps: DialectDeps): Route {
  return {
    path: '/v2/contract/all-chains/:address',
    doc: {
      summary: 'The chains on which an address is verified, in the format of Sourcify',
      description:
        'The answer is {results: [{matchId, match, creationMatch, runtimeMatch, chainId, address, ' +
        'verifiedAt}]}. An address that is verified on no chain is a 404 with an empty list.',
      tag: 'explorer',
      path: { address: requiredAddressParam('address', 'Address of the contract') },
      answer: sourcifyChainsShape,
      hasExample: false,
      errors: [503],
      dialectErrors: { 400: sourcifyErrorShape, 404: sourcifyChainsShape },
    },
    handle: answering(deps.cache, (ctx) => {
      const addressText = ctx.params['address'] ?? '';
      const address = findAddress(addressText);
      if (address === null) throw invalid(ctx, `Invalid address: ${shortenText(addressText)}`);
      return { key: null, read: () => readChains(deps, address) };
    }),
  };
}

async function readChains(deps: DialectDeps, address: Hex): Promise<Json> {
  const records = await Promise.all(
    deps.chainIds.map(async (chainId) => {
      const facts = await deps.contracts.find(chainId, address);
      return findVerification(deps.verified, chainId, address, facts);
    }),
  );
  const results = records.flatMap((record) => (record === null ? [] : [minimalOf(record)]));
  if (results.length === 0) throw new Refusal(404, { results });
  return { results };
}

function unsupported(ctx: RouteContext, chain: string): Refusal {
  return sourcifyRefusal(
    ctx,
    404,
    'unsupported_chain',
    `The chain with chainId ${shortenText(chain)} is not supported`,
  );
}
