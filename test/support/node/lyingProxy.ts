/** An HTTP proxy in front of a JSON-RPC node. It changes what the node says about one block. */
import { createServer } from 'node:http';

import { listen } from '../server/listen';
import type { Json } from './lies';

interface LyingProxy {
  readonly url: string;
  /** Number of answers that were changed. */
  readonly lies: number;
  close(): Promise<void>;
}

const isOfBlock = (result: unknown, block: number): result is Json =>
  typeof result === 'object' &&
  result !== null &&
  'blockNumber' in result &&
  Number(result.blockNumber) === block;

/** `change` returns another receipt in place of each receipt of the block, whatever the method. */
export async function startLyingProxy(
  nodeUrl: string,
  block: number,
  change: (receipt: Json) => Json,
): Promise<LyingProxy> {
  const proxy = { lies: 0 };
  const server = createServer((request, response) => {
    const forward = async (): Promise<void> => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const headers = { 'content-type': 'application/json' };
      const fetched = await fetch(nodeUrl, { method: 'POST', headers, body });
      const calls = [JSON.parse(body) as Json | Json[]].flat();
      const callById = new Map(calls.map((call) => [call['id'], call]));
      const changeAnswer = (answer: Json): Json => {
        const { method, params } = callById.get(answer['id']) ?? {};
        const { result } = answer;
        if (method === 'eth_getTransactionReceipt' && isOfBlock(result, block)) {
          proxy.lies += 1;
          return { ...answer, result: change(result) };
        }
        const asksForReceipts =
          method === 'eth_getBlockReceipts' && Array.isArray(params) && Number(params[0]) === block;
        if (!asksForReceipts || !Array.isArray(result)) return answer;
        proxy.lies += 1;
        return { ...answer, result: (result as Json[]).map(change) };
      };
      const answers = (await fetched.json()) as Json | Json[];
      response.writeHead(fetched.status, headers);
      response.end(
        JSON.stringify(Array.isArray(answers) ? answers.map(changeAnswer) : changeAnswer(answers)),
      );
    };
    forward().catch(() => response.destroy());
  });
  const { url, close } = await listen(server);
  return Object.assign(proxy, { url, close });
}
