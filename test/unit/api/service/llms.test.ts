/** llms.txt is generated from the OpenAPI document. It must name every endpoint and nothing else. */
import { healthz } from '../../../../src/api/service/healthz';
import { llms, writeLlms } from '../../../../src/api/service/llms';
import { describeRoutes } from '../../../../src/api/openapi';
import type { Route } from '../../../../src/api/route';
import { udfConfig } from '../../../../src/api/udf/udfConfig';

test('llms.txt lists every path and parameter of the OpenAPI document with type, bounds and default', () => {
  const document = {
    info: { title: 'T', description: 'D' },
    tags: [{ name: 'market', description: 'M' }],
    paths: {
      '/a/{id}': {
        get: {
          summary: 'One a',
          description: 'More of it',
          tags: ['market'],
          parameters: [
            { name: 'id', in: 'path', required: true, description: 'Which', schema: { type: 'string' } },
            {
              name: 'limit',
              in: 'query',
              required: false,
              description: 'How many',
              schema: { type: 'integer', minimum: 1, maximum: 100, default: 25 },
            },
            {
              name: 'order',
              in: 'query',
              required: true,
              description: 'Which way',
              schema: { enum: ['asc', 'desc'] },
            },
          ],
          responses: { 200: { content: { 'application/json': {}, 'text/csv': {} } }, 404: {} },
        },
      },
    },
  };
  expect(writeLlms(document)).toBe(`# T

> D

## market

M.

- [GET /a/{id}](/a/{id}): One a. More of it; as application/json, text/csv
  - \`id\` (in the path, string): Which
  - \`limit\` (integer, 1 to 100, default 25): How many
  - \`order\` (required, asc | desc): Which way

## Links

- [OpenAPI document](/openapi.json): all fields of all answers, with real examples
- [Reference](/docs): the same as a web page with a quick start, examples and a form to try calls
`);
});

test('llms.txt of the real routes lists their paths, including its own', () => {
  const routes: Route[] = [healthz(), udfConfig({ dexes: [] })];
  const text = writeLlms(describeRoutes([...routes, llms(routes)]));
  for (const path of ['/healthz', '/udf/config', '/llms.txt'])
    expect(text).toContain(`[GET ${path}](${path})`);
});
