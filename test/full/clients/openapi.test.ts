/**
 * The OpenAPI document is valid for the validators of Swagger and Redocly, and a client that openapi-typescript
 * generates from it compiles for every operation.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { validate } from '@apidevtools/swagger-parser';
import { createConfig, lintFromString } from '@redocly/openapi-core';

import { findPackageRoot } from '../../../src/clickhouse/client/packageRoot';
import { startApi } from '../../../src/commands/api';
import { loadConfig } from '../../../src/config';
import { createLog } from '../../../src/log';
import { createMetrics } from '../../../src/metrics';
import { installProject } from '../../support/server/installProject';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: { readonly type: string; readonly enum?: readonly unknown[]; readonly default?: unknown };
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: object;
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>
  >;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const run = promisify(execFile);
let text = '';
let operations: [path: string, method: string, operation: Operation][] = [];

beforeAll(async () => {
  const config = loadConfig({ PORT: '0' }, () => '');
  const api = await startApi({ config, log: createLog('silent'), metrics: createMetrics() });
  text = await (await fetch(`${api.url}/openapi.json`)).text();
  await api.close();
  const { paths } = JSON.parse(text) as OpenApi;
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Operation] => [
      path,
      method,
      operation,
    ]),
  );
});

test('swagger-parser finds the document valid', async () => {
  await expect(validate(JSON.parse(text) as Parameters<typeof validate>[0])).resolves.toBeDefined();
});

test("Redocly's recommended rules find no problem in the document", async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
    [],
  );
});

test('each chainId is an integer enum, and each path parameter is required', () => {
  const parameters = operations.flatMap(([path, , { parameters: each }]) =>
    each.map((one) => ({ path, ...one })),
  );
  const chains = parameters.filter(({ name }) => name.toLowerCase() === 'chainid');
  expect(chains.length).toBeGreaterThan(10);
  for (const { path, schema } of chains)
    expect([path, schema]).toEqual([path, expect.objectContaining({ type: 'integer', enum: [369, 943] })]);
  for (const { path, name, in: where, required } of parameters)
    if (where === 'path') expect([path, name, required]).toEqual([path, name, true]);
});

test('each operation has a schema for each JSON answer, and each 404 of a dialect has the schema of this dialect', () => {
  for (const [path, , { responses }] of operations)
    for (const [status, { content }] of Object.entries(responses)) {
      const schema = content?.['application/json']?.schema;
      if (schema !== undefined)
        expect([path, status, schema]).not.toEqual([path, status, { type: 'string' }]);
    }
  const missing = (path: string): unknown =>
    operations.find((each) => each[0] === path)?.[2].responses['404']?.content?.['application/json']?.schema;
  expect(JSON.stringify(missing('/v2/contract/{chainId}/{address}'))).toContain('SourcifyMissing');
  expect(JSON.stringify(missing('/api/v2/smart-contracts/{address}'))).toContain('BlockscoutMissing');
  expect(missing('/dexscreener/pair')).toEqual({ $ref: '#/components/schemas/Error' });
});

test('a client that openapi-typescript generates compiles for every operation', async () => {
  const installed = await installProject(join(__dirname, 'openapi'), 'openapi');
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-openapi-'));
  try {
    symlinkSync(join(installed, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'openapi.json'), text);
    const generator = join(installed, 'node_modules', 'openapi-typescript', 'bin', 'cli.js');
    await run(process.execPath, [generator, 'openapi.json', '--output', 'api.d.ts'], { cwd: folder });
    writeFileSync(join(folder, 'calls.ts'), writeCalls());
    const compiler = join(findPackageRoot(), 'node_modules', 'typescript', 'bin', 'tsc');
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'esnext'];
    const modules = ['--moduleResolution', 'bundler', '--lib', 'es2022,dom', '--types', ''];
    await run(process.execPath, [compiler, ...options, ...modules, 'calls.ts'], { cwd: folder }).catch(
      (error: unknown) => {
        throw new Error(
          `the client does not compile: ${(error as { stdout: string }).stdout.slice(0, 2_000)}`,
        );
      },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A program that calls every operation with all its parameters and reads the answer. */
function writeCalls(): string {
  const calls = operations.map(([path, method, operation], index) => {
    const groups = ['path', 'query'].flatMap((where) => {
      const given = operation.parameters.filter((each) => each.in === where);
      const values = given.map(({ name, schema }) => `${JSON.stringify(name)}: ${sampleOf(schema)}`);
      return values.length === 0 ? [] : [`${where}: { ${values.join(', ')} }`];
    });
    const given = `params: { ${groups.join(', ')} }`;
    const body =
      operation.requestBody === undefined
        ? ''
        : path.includes('/verify')
          ? ', body: {} as never'
          : ", body: { module: 'logs' }";
    const parse = `parseAs: ${operation.responses['200']?.content?.['application/json'] === undefined ? "'text'" : "'json'"}`;
    const call = `client.${method.toUpperCase()}(${JSON.stringify(path)}, { ${given}${body}, ${parse} })`;
    return `async function call${index}() {\n  const { data, error } = await ${call};\n  return { data, error };\n}`;
  });
  return `import createClient from 'openapi-fetch';
import type { paths } from "./api";

const client = createClient<paths, 'application/json'>({ baseUrl: 'http://127.0.0.1:3000' });
${calls.join('\n')}
async function readsFields() {
  const pairs = await client.GET('/api/v1/pairs', { params: { query: { limit: 1 } } });
  const address: string | undefined = pairs.data?.data[0]?.address;
  const code: string | undefined = pairs.error?.code;
  const missing = await client.GET('/api/v2/smart-contracts/{address}', { params: { path: { address: '0x' } } });
  const name: string | undefined = missing.data?.name;
  // @ts-expect-error a chain id is a number of the enum
  await client.GET('/api/v1/logs', { params: { query: { chainId: '369' } } });
  // @ts-expect-error a path parameter is required
  await client.GET('/api/v1/pairs/{address}', { params: { path: {} } });
  return { address, code, name };
}
`;
}

function sampleOf({ type, enum: values, default: absent }: Parameter['schema']): string {
  const value = absent ?? values?.[0];
  if (value !== undefined) return JSON.stringify(value);
  return type === 'integer' || type === 'number' ? '1' : type === 'boolean' ? 'true' : "'x'";
}
