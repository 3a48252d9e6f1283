/** The command `dev` of `npm start`: its sample requests, and its verified contracts in a real browser. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { z } from 'zod';

import { findCompilers } from '../../../../src/contracts/verify/compilers';
import { launchBrowser, openPage, untilLoaded, DESKTOP } from '../../../support/server/browser';
import { readAnswer } from '../../../support/server/explorerPage';
import { eventually, until } from '../../../support/eventually';
import { startProgram, type Program } from '../../../support/server/program';

let folder: string;
let program: Program;
/** Address of the API. The first address in the log is that of the node. */
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'candlehouse-dev-'));
  program = await startProgram('dev', {
    DATA_DIR: folder,
    RATE_LIMIT_PER_MINUTE: '0',
    // At the lowest priority, the other tests would leave the compilers no time.
    COMPILER_NICENESS: '0',
  });
});

afterAll(async () => {
  await program?.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

async function ask(path: string): Promise<unknown> {
  const response = await fetch(new URL(path, url));
  const text = await response.text();
  expect([path, response.status, text]).toEqual([path, 200, expect.stringMatching(/^\{/)]);
  return JSON.parse(text);
}

test('dev prints sample requests when they answer with data', async () => {
  const samples = await eventually(
    () => [...program.output().matchAll(/curl '([^']+)'/g)].map(([, sample = '']) => sample),
    ({ length }) => length === 2,
  );
  url = new URL(samples[0] ?? '').origin;
  for (const sample of samples) {
    const { data } = z.object({ data: z.array(z.unknown()) }).parse(await ask(sample));
    expect([sample, data.length > 0]).toEqual([sample, true]);
  }
  expect(program.output()).toMatch(/Candlehouse is at (http:\S+), the API reference at \1\/docs/);
  expect(program.output()).not.toContain('a request failed');
});

const pairsShape = z.object({
  data: z.array(
    z.looseObject({
      address: z.string(),
      dex_name: z.string(),
      base_token: z.looseObject({ address: z.string(), symbol: z.string().nullable() }),
      quote_token: z.looseObject({ address: z.string(), symbol: z.string().nullable() }),
    }),
  ),
});
const contractShape = z.object({
  data: z.looseObject({
    name: z.string().nullable(),
    verification: z.looseObject({ status: z.string().nullable(), source: z.string().nullable() }),
  }),
});
const sourceShape = z.object({
  result: z.tuple([
    z.looseObject({ SourceCode: z.string(), CompilerVersion: z.string(), ContractName: z.string() }),
  ]),
});
const codeRange = z.object({ start: z.number(), length: z.number() });
const outputShape = z.object({
  contracts: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        evm: z.object({
          deployedBytecode: z.object({
            object: z.string(),
            immutableReferences: z.record(z.string(), z.array(codeRange)).default({}),
          }),
        }),
      }),
    ),
  ),
});

/** Compiles the sources that the API shows, and compares the code with the code on the chain. */
async function checkRecompiled(address: string, name: string): Promise<void> {
  const query = `/api/v1/etherscan?module=contract&action=getsourcecode&address=${address}`;
  const [source] = sourceShape.parse(await ask(query)).result;
  expect(source.ContractName).toBe(name);
  const input = z
    .looseObject({ settings: z.looseObject({}) })
    .parse(JSON.parse(source.SourceCode.slice(1, -1)));
  const outputs = ['evm.deployedBytecode.object'];
  if (!source.CompilerVersion.startsWith('v0.5')) outputs.push('evm.deployedBytecode.immutableReferences');
  const settings = { ...input.settings, outputSelection: { '*': { [name]: outputs } } };
  const { output } = await findCompilers({ niceness: 0 }).compile(source.CompilerVersion, {
    ...input,
    settings,
  });
  const compiled = Object.values(outputShape.parse(output).contracts).find((file) => name in file)?.[name];
  const code = compiled?.evm.deployedBytecode;
  const answer = await ask(`/api/v1/etherscan?module=proxy&action=eth_getCode&address=${address}&tag=latest`);
  let deployed = z.object({ result: z.string() }).parse(answer).result.slice(2);
  // The compiler leaves zeros in the places of immutables.
  for (const { start, length } of Object.values(code?.immutableReferences ?? {}).flat())
    deployed = deployed.slice(0, 2 * start) + '00'.repeat(length) + deployed.slice(2 * (start + length));
  expect(deployed.length).toBeGreaterThan(1_000);
  expect(code?.object).toBe(deployed);
}

test('dev verifies its tokens and pools after the start message: their sources compile to the code on the chain', async () => {
  const { data: pairs } = pairsShape.parse(await ask('/api/v1/pairs?limit=30'));
  const tokens = pairs.flatMap(({ base_token, quote_token }) => [base_token, quote_token]);
  const wrapped = tokens.find(({ symbol }) => symbol === 'WPLS');
  const token = tokens.find(({ symbol }) => symbol === 'HEXD');
  const pools = ['devswap_v2', 'pulsedev_v2'].map((dex) => pairs.find(({ dex_name }) => dex_name === dex));
  const known: [address: string, name: string][] = [
    [wrapped?.address ?? '', 'WrappedNative'],
    [token?.address ?? '', 'DevToken'],
    ...pools.map((pool): [string, string] => [pool?.address ?? '', 'UniswapV2Pair']),
  ];
  for (const [address, name] of known) {
    const path = `/api/v1/contracts/${address}`;
    await until(async () => contractShape.parse(await ask(path)).data.verification.source !== null);
    const { data } = contractShape.parse(await ask(path));
    expect([address, data.name]).toEqual([address, name]);
    // One pool of each exchange is verified; the others have its code.
    expect(['local', 'twin']).toContain(data.verification.source);
    await checkRecompiled(address, name);
  }
  // A pair without metadata that differs: the code is Uniswap's, byte for byte.
  const { data } = contractShape.parse(await ask(`/api/v1/contracts/${known[2]?.[0] ?? ''}`));
  expect(data.verification).toMatchObject({ status: 'exact_match' });
  await checkPage(known[1]?.[0] ?? '');
});

/** The page of a development token shows its source, and reads through the node. */
async function checkPage(token: string): Promise<void> {
  const { browser, close } = await launchBrowser();
  try {
    const { page, faults } = await openPage(browser, url, DESKTOP);
    await page.goto(`/contract/${token}?tab=source`);
    await untilLoaded(page);
    expect(await page.locator('.code').innerText()).toContain('contract DevToken');
    await page.goto(`/contract/${token}?tab=read`);
    await untilLoaded(page);
    expect(await readAnswer(page, 'symbol')).toContain('HEXD');
    expect(await readAnswer(page, 'decimals')).toContain('8');
    expect(faults).toEqual([]);
  } finally {
    await close();
  }
}
