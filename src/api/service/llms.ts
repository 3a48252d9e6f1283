/**
 * GET /llms.txt: a summary of the API in Markdown for language models (llmstxt.org), generated from the OpenAPI
 * document.
 */
import { z } from 'zod';

import { describeRoutes } from '../openapi';
import type { Route } from '../route';

const paramShape = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean(),
  description: z.string(),
  schema: z.record(z.string(), z.unknown()),
});
const actionShape = z.object({
  module: z.string(),
  action: z.string(),
  description: z.string(),
  parameters: z.array(z.object({ name: z.string(), required: z.boolean() })),
});
const operationShape = z.object({
  summary: z.string(),
  description: z.string().optional(),
  tags: z.array(z.string()),
  parameters: z.array(paramShape),
  'x-actions': z.array(actionShape).default([]),
  responses: z.record(z.string(), z.object({ content: z.record(z.string(), z.unknown()).optional() })),
});
const documentShape = z.object({
  info: z.object({ title: z.string(), description: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.object({ get: operationShape.optional(), post: operationShape.optional() })),
});
type Operation = z.infer<typeof operationShape>;
type Parameter = z.infer<typeof paramShape>;

export function llms(routes: readonly Route[]): Route {
  let text: string | null = null;
  const ownRoute: Route = {
    path: '/llms.txt',
    doc: {
      summary: 'This description of the API for language models',
      description: 'The same facts as the OpenAPI document, as Markdown in the format of llmstxt.org.',
      tag: 'service',
      mediaType: 'text/plain',
    },
    handle(ctx): void {
      text ??= writeLlms(describeRoutes([...routes, ownRoute]));
      ctx.type = 'text/plain';
      ctx.body = text;
    },
  };
  return ownRoute;
}

/** Writes the text from an OpenAPI document. */
export function writeLlms(openapi: unknown): string {
  const { info, tags, paths } = documentShape.parse(openapi);
  const sections = tags.map(({ name, description }) => {
    const sectionOperations = Object.entries(paths).flatMap(([path, { get, post }]) => {
      const operation = get ?? post;
      const shownPath = get === undefined ? `POST ${path}` : path;
      return operation?.tags.includes(name) === true ? [[shownPath, operation] as const] : [];
    });
    return [
      `## ${name}`,
      '',
      `${description}.`,
      '',
      ...sectionOperations.flatMap(([path, operation]) => writeOperation(path, operation)),
      '',
    ];
  });
  const links = [
    '## Links',
    '',
    '- [OpenAPI document](/openapi.json): all fields of all answers, with real examples',
    '- [Reference](/docs): the same as a web page with a quick start, examples and a form to try calls',
    '',
  ];
  return [`# ${info.title}`, '', `> ${info.description}`, '', ...sections.flat(), ...links].join('\n');
}

function writeOperation(path: string, operation: Operation): string[] {
  const { summary, description, parameters, responses, 'x-actions': actions } = operation;
  const mediaTypes = Object.keys(responses['200']?.content ?? {});
  const otherTypes = mediaTypes.length > 1 ? `; as ${mediaTypes.join(', ')}` : '';
  const describedAs = description === undefined ? '' : `. ${description}`;
  return [
    `- [GET ${path}](${path}): ${summary}${describedAs}${otherTypes}`,
    ...parameters.map(writeParameter),
    ...actions.map(writeAction),
  ];
}

function writeAction({ module, action, description, parameters }: z.infer<typeof actionShape>): string {
  const paramTexts = parameters.map(({ name, required }) => (required ? `${name} (required)` : name));
  return `  - \`module=${module}&action=${action}\`: ${description} Parameters: ${paramTexts.join(', ') || 'none'}`;
}

function writeParameter({ name, in: location, required, description, schema }: Parameter): string {
  const paramFacts = [
    location === 'path' ? 'in the path' : required ? 'required' : '',
    ...writeSchema(schema),
  ];
  return `  - \`${name}\` (${paramFacts.filter((fact) => fact !== '').join(', ')}): ${description}`;
}

function writeSchema(schema: Readonly<Record<string, unknown>>): string[] {
  const { type, enum: values, minimum, maximum, default: defaultValue } = schema;
  return [
    typeof type === 'string' ? type : '',
    Array.isArray(values) ? values.join(' | ') : '',
    minimum === undefined && maximum === undefined
      ? ''
      : `${String(minimum ?? '')} to ${String(maximum ?? '')}`,
    defaultValue === undefined ? '' : `default ${String(defaultValue)}`,
  ];
}
