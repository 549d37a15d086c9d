import { readFile } from "node:fs/promises";
import type { JsonSchema } from "@svc/catalog";
import { expect, test } from "vitest";
import { actions, catalog, readDefinition } from "./definitions.ts";

const tools = [...catalog.tools.values()];

/** One property of a schema, with the path to it. */
type Property = { readonly path: string; readonly name: string; readonly schema: JsonSchema };

/** Yields every property at every depth: of objects, of list items and of map values. Rules between arguments are left out. */
function* propertiesOf(schema: unknown, path = ""): Generator<Property> {
  if (typeof schema !== "object" || schema === null) return;
  const { properties, items, additionalProperties } = schema as JsonSchema;
  for (const [name, child] of Object.entries((properties ?? {}) as Record<string, JsonSchema>)) {
    yield { path: `${path}.${name}`, name, schema: child };
    yield* propertiesOf(child, `${path}.${name}`);
  }
  yield* propertiesOf(items, `${path}[]`);
  yield* propertiesOf(additionalProperties, `${path}.*`);
}

test("no description is shorter than 40 characters", () => {
  expect(tools.filter(({ description }) => description.length < 40).map(({ slug }) => slug)).toEqual([]);
});

test("no two tools of the catalog have the same description", () => {
  const byText = Map.groupBy(tools, ({ description }) => description.toLowerCase());
  const repeated = [...byText.values()].filter(({ length }) => length > 1);
  expect(repeated.map((same) => same.map(({ slug }) => slug))).toEqual([]);
});

test("every tool has 3 to 6 intents, each once in its toolkit", () => {
  const counts = tools.filter(({ intents }) => intents.length < 3 || intents.length > 6);
  expect(counts.map(({ slug }) => slug)).toEqual([]);
  const intents = tools.flatMap(({ toolkitSlug, slug, intents: own }) => {
    return own.map((intent) => ({ slug, text: `${toolkitSlug}: ${intent.toLowerCase()}` }));
  });
  const repeated = [...Map.groupBy(intents, ({ text }) => text).values()].filter(({ length }) => length > 1);
  expect(repeated.map((same) => same.map(({ slug, text }) => `${slug} ${text}`))).toEqual([]);
});

test("no intent contains the name of its tool", () => {
  const named = tools.flatMap(({ slug, name, intents }) => {
    const pattern = new RegExp(`\\b${name.replaceAll("_", "[_ ]")}\\b`, "i");
    return intents.filter((intent) => pattern.test(intent)).map((intent) => `${slug}: ${intent}`);
  });
  expect(named).toEqual([]);
});

test("every argument is described at every depth", () => {
  const silent = actions.flatMap(({ slug, inputSchema }) => {
    const arguments_ = [...propertiesOf(inputSchema)];
    return arguments_
      .filter(({ schema }) => String(schema["description"] ?? "").trim().length < 10)
      .map(({ path }) => slug + path);
  });
  expect(silent).toEqual([]);
});

/**
 * Companies and products of the kinds of apps that the toolkits cover, whose names no definition may contain. A name that is also an
 * English word is written as only the brand is.
 */
const brands = [
  "Linear\\.app|Jira|Atlassian|Trello|Asana|ClickUp|Shortcut\\.com|YouTrack|Redmine|GitHub|GitLab|Bitbucket",
  "PagerDuty|Opsgenie|VictorOps|Datadog|Splunk|Grafana|Sentry|New ?Relic|ServiceNow|Statuspage|incident\\.io|FireHydrant",
  "Telegram|WhatsApp|Viber|Discord|Slack|Skype|WeChat|Mattermost|Webex|Microsoft|Facebook|Instagram|Twitter|LinkedIn",
  "Mailchimp|Mandrill|SendGrid|Mailgun|HubSpot|Klaviyo|Brevo|Sendinblue|Constant ?Contact|Campaign ?Monitor|ActiveCampaign",
  "monday\\.com|Airtable|Smartsheet|Wrike|Basecamp|Teamwork\\.com",
  "HelloSign|Dropbox|DocuSign|PandaDoc|SignNow|Adobe|SignWell",
  "Typesense|Meilisearch|Elasticsearch|OpenSearch|Elastic\\.co|Solr|Algolia|Coveo|Swiftype",
  "Qdrant|Pinecone|Weaviate|Milvus|Chroma|Vespa|Zilliz|Cohere|OpenAI|Jina|HuggingFace|Anthropic|Vertex ?AI|PaLM",
  "Calendly|SavvyCal|Acuity|Doodle|Cal\\.com|Chili ?Piper",
  "Pipedrive|Salesforce|Zoho|Freshsales|Freshworks|Zendesk|Intercom|Copper\\.com|Insightly|SugarCRM",
  "Adyen|Stripe|PayPal|Braintree|Checkout\\.com|Worldpay|Klarna|Afterpay|Clearpay|Razorpay|Mollie|Givingblock|Visa|Mastercard|Amex|American Express",
  "Shopify|BigCommerce|commercetools|Magento|WooCommerce|PrestaShop",
  "Google|Gmail|Outlook|Office ?365|iCloud|Fastmail|Zoom\\.us|Amazon|AWS|Azure",
  "Segment\\.com|Twilio|RudderStack|mParticle|Mixpanel|Amplitude\\.com|BigQuery|Snowflake|Redshift|Databricks|Fivetran|Hightouch",
  "Plaid|Yodlee|Finicity|TrueLayer|Tink|MX\\.com|Teller\\.io|GoCardless|Nordigen|Wells Fargo|Barclays|Citibank|HSBC",
  "Notion|Evernote|Confluence|OneNote|Coda\\.io|Roam Research|Obsidian|Slite|Zapier|Figma|Loom\\.com|Miro",
].join("|");

/**
 * Brand names that are allowed, because the specification gives them to tools, paths and values, and one path whose name only the app
 * decides.
 */
const boundNames = /\bapple_pay\b|\bapplePay\b|\/paypal\/updateOrder\b/g;

test("no definition names a brand or leaves work undone", async () => {
  const brand = new RegExp(`\\b(${brands}|Apple ?Pay)\\b`, "i");
  const found: string[] = [];
  for (const slug of [...catalog.toolkits.keys(), ...catalog.tools.keys()]) {
    const text = (await readDefinition(slug)).replaceAll(boundNames, "");
    // Also finds a brand as a part of a name in snake_case or camelCase.
    const words = text.replaceAll("_", " ").replaceAll(/([a-z])([A-Z])/g, "$1 $2");
    const [word] =
      brand.exec(`${text}\n${text.replaceAll("_", " ")}\n${words}`) ?? /\b(TODO|FIXME|XXX)\b/.exec(text) ?? [];
    if (word !== undefined) found.push(`${slug}: ${word}`);
  }
  expect(found).toEqual([]);
});

/** Names that the texts of a toolkit may mention: its tools, account variables, properties and enum values. */
function namesOf(toolkitSlug: string): Set<string> {
  const toolkit = catalog.toolkits.get(toolkitSlug);
  const own = [...(toolkit?.actions ?? []), ...(toolkit?.triggers ?? [])];
  const names = new Set(own.map(({ name }) => name));
  for (const { name } of toolkit?.account ?? []) names.add(name);
  for (const { inputSchema, outputSchema } of own) {
    for (const { name, schema } of [...propertiesOf(inputSchema), ...propertiesOf(outputSchema)]) {
      names.add(name);
      const values = [schema["enum"], (schema["items"] as JsonSchema | undefined)?.["enum"]].flat();
      for (const value of values) names.add(String(value));
    }
  }
  return names;
}

/**
 * First words of tool names, such as `list` and `create`. A word with an underscore that begins otherwise is an example or a value of the
 * app.
 */
const verbs = new Set(tools.map(({ name }) => name.split("_")[0]));

test.each([...catalog.toolkits.values()])(
  "every tool that a text of $slug names exists",
  ({ slug, actions: own, triggers }) => {
    const known = namesOf(slug);
    const unknown = [...own, ...triggers].flatMap((tool) => {
      const texts = [
        tool.description,
        ...[...propertiesOf(tool.inputSchema)].map(({ schema }) => String(schema["description"])),
      ];
      const words = texts.join(" ").match(/\b[a-z][a-z0-9]*(_[a-z0-9]+)+\b/g) ?? [];
      return words
        .filter((word) => verbs.has(word.split("_")[0] ?? "") && !known.has(word))
        .map((word) => `${tool.name}: ${word}`);
    });
    expect(unknown).toEqual([]);
  },
);

test("docs/guides/toolkits/bind-a-toolkit-to-an-app.md lists every stand-in that an overlay replaces for the real app", async () => {
  const docs = await readFile(
    new URL("../../docs/guides/toolkits/bind-a-toolkit-to-an-app.md", import.meta.url),
    "utf8",
  );
  const definitions = await Promise.all([...catalog.toolkits.keys(), ...catalog.tools.keys()].map(readDefinition));
  const headers = /\b(?:x-(?:searchingest|searchengine|calendar)|BANKLINK|NOTESWIKI)-[a-z-]+\b/gi;
  const values = /^\s+- (providerIndex|warehouse|container|analyticsWarehouseExport|ecom_[a-z])$/gm;
  const listed = /\b(provider|providerInsights|ecom_[a-z])(?=[,\]])/g;
  // The name of a header that carries the key is asked for by `binding`, as a question of its own.
  const withoutAsked = (text: string) =>
    /^ +- \{ ask: .*path: "auth\[0\]\.name"/m.test(text)
      ? text.replace(/(?<=placement: header[,\s]\s*name: )[\w-]+/, "")
      : text;
  const code = definitions.map((text) => withoutAsked(text).replaceAll(/^\s*#.*$/gm, ""));
  const found = [headers, values, listed].flatMap((pattern) =>
    code.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1] ?? match[0])),
  );
  expect(new Set(found).size).toBeGreaterThan(12);
  expect([...new Set(found)].filter((name) => !docs.includes(`\`${name}\``))).toEqual([]);
});
