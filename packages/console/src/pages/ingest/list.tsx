import { useQuery } from "@connectrpc/connect-query";
import { type IngestEndpoint, TriggersService } from "@svc/gen/triggers";
import { serviceBase } from "../../session/base.ts";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CodeBlock, Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import type { Word } from "../../words/word.ts";

/**
 * Returns a shell command that posts the sample event of an inbound path. The command signs the post as the app does, with a secret from a
 * shell variable. If the command runs again, the sample does not become a second event. It needs curl, and openssl for signatures. Returns
 * an empty text if there is no sample, or if this console does not know the scheme.
 */
function curlOf(endpoint: IngestEndpoint, serviceUrl: string): string {
  const { path, scheme, secretEnv, sample } = endpoint;
  const signing = signings[scheme]?.(endpoint);
  if (sample === undefined || signing === undefined) return "";
  const hasBody = sample.bodyJson !== "";
  const type = hasBody ? { "content-type": "application/json" } : {};
  const options = [
    ...Object.entries({ ...type, ...sample.headers }).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...Object.entries(sample.query).map(([name, value]) => `--url-query ${quoted(`${name}=${value}`)}`),
    ...signing.options,
    hasBody ? '--data-binary "$body"' : "-X POST",
  ];
  const lines = [
    // During a rotation, the variable may contain several secrets separated by spaces. The command signs with the first one.
    `secret=\${${secretEnv}:?is not set in this shell}; secret="\${secret%% *}"`,
    `body=${quoted(sample.bodyJson)}`,
    ...signing.lines,
    `curl -sS ${quoted(`${serviceUrl}${path}`)} \\`,
    ...options.map((option, n) => `  ${option}${n === options.length - 1 ? "" : " \\"}`),
  ];
  return lines.join("\n");
}

/** How a post is signed: `lines` are shell lines that compute the signature, `options` are the options for curl. */
type Signing = { lines: readonly string[]; options: readonly string[] };

const hex = `openssl dgst -sha256 -hmac "$secret" -hex | sed 's/^.* //'`;
const base64 = `openssl dgst -sha256 -hmac "$secret" -binary | openssl base64 -A`;

/** How to sign, by the scheme of an endpoint (`IngestEndpoint.scheme`). */
const signings: Record<string, (endpoint: IngestEndpoint) => Signing> = {
  hmac_sha256: ({ header, prefix, encoding }) => ({
    lines: [`signature=$(printf %s "$body" | ${encoding === "base64" ? base64 : hex})`],
    options: [`-H ${quoted(`${header}: ${prefix}`)}"$signature"`],
  }),
  slack_v0: () => ({
    lines: ["at=$(date +%s)", `signature=$(printf 'v0:%s:%s' "$at" "$body" | ${hex})`],
    options: ['-H "x-slack-request-timestamp: $at"', '-H "x-slack-signature: v0=$signature"'],
  }),
  token_query: ({ parameter }) => ({ lines: [], options: [`--url-query ${quoted(`${parameter}=`)}"$secret"`] }),
};

/** Returns a text quoted as one word of a shell command. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const set: Word = { word: "takes posts", tone: "ok", icon: "check", says: "Its secret is set." };
const unset: Word = {
  word: "no secret",
  tone: "warn",
  icon: "alert",
  says: "Every post is refused until its secret is set.",
};

/** Draws the inbound paths to which apps post their webhooks. For each path, lists the setup steps that are missing. */
export default function IngestPage() {
  const list = useQuery(TriggersService.method.listIngestEndpoints, {});
  return (
    <Page title="Ingest">
      <p>Apps post to these addresses. What they post is verified by the secret of its toolkit, and becomes events.</p>
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton />}
      <ul>
        {list.data?.endpoints.map((endpoint) => (
          <li key={endpoint.toolkitSlug}>
            <Disclosure
              initiallyOpen={list.data.endpoints.length === 1}
              summary={
                <>
                  <b>{endpoint.toolkitSlug}</b>
                  <State word={endpoint.secretSet ? set : unset} />
                </>
              }
            >
              <Endpoint endpoint={endpoint} />
            </Disclosure>
          </li>
        ))}
      </ul>
    </Page>
  );
}

function Endpoint({ endpoint }: { endpoint: IngestEndpoint }) {
  const { toolkitSlug, path, scheme, secretEnv, secretSet } = endpoint;
  const curl = curlOf(endpoint, serviceBase);
  return (
    <Stack>
      <Facts
        facts={[
          ["Address", <Copyable key="address" text={`${serviceBase}${path}`} what="address" />],
          ["Verified by", scheme],
          ["Secret", <code key="secret">{secretEnv}</code>],
        ]}
      />
      {!secretSet && (
        <>
          <p>Start the service with the secret that the app signs with, in this variable:</p>
          <CodeBlock text={`export ${secretEnv}=…`} />
        </>
      )}
      {curl !== "" && (
        <>
          <p>
            Paste this where that variable is set: it posts a sample of the app, signed, which makes one event, however
            often.
          </p>
          <CodeBlock text={curl} />
        </>
      )}
      <p>The same by the command line, a new event each time:</p>
      <CodeBlock text={`npx svc trigger ${toolkitSlug} --url ${serviceBase}`} />
    </Stack>
  );
}
