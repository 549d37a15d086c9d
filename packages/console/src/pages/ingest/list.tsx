import { useQuery } from "@connectrpc/connect-query";
import { type IngestEndpoint, TriggersService } from "@svc/gen/triggers";
import { getRouteApi, Link } from "@tanstack/react-router";
import { serviceBase } from "../../session/base.ts";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { CodeBlock, Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { prettyJson } from "../../words/pretty-json.ts";
import type { Word } from "../../words/word.ts";
import { curlOf } from "./sample-command.ts";
import { SendSample } from "./send-sample.tsx";
import { WebhookSecrets } from "./webhook-secrets.tsx";

const set: Word = { word: "Secret set", tone: "ok", icon: "check", says: "svc accepts the posts of the app." };

/** Returns the state of a path without a secret. `secretEnv`: the variable to set; empty for a private app. */
function unset(secretEnv: string): Word {
  const word = secretEnv === "" ? "No secret" : `Set ${secretEnv}`;
  return { word, tone: "warn", icon: "alert", says: "All posts are refused until the secret is set." };
}

const notReady: Word = {
  word: "Not ready",
  tone: "warn",
  icon: "alert",
  says: "All requests are refused until the deployment is configured.",
};

const route = getRouteApi("/p/$projectId");
const lookMs = 10_000;

/**
 * Draws the inbound paths to which apps post their webhooks: those of the project's private toolkits (apps that it defined itself), and
 * those of shared toolkits.
 */
export default function IngestPage() {
  const { projectId } = route.useParams();
  const list = useQuery(
    TriggersService.method.listIngestEndpoints,
    { projectId, withLastEvents: true },
    { refetchInterval: lookMs },
  );
  const endpoints = list.data?.endpoints ?? [];
  const own = endpoints.filter((endpoint) => endpoint.projectId !== "");
  const shared = endpoints.filter((endpoint) => endpoint.projectId === "");
  return (
    <Page
      title="Incoming webhooks"
      actions={
        <Link to="/p/$projectId/quarantine" params={{ projectId }} className={buttonClass()}>
          Quarantine
        </Link>
      }
    >
      <p>
        Apps send webhooks to these addresses. svc verifies each one with the app's secret and stores it as an event.
      </p>
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton />}
      {own.length > 0 && (
        <Section title="Your own apps">
          <Endpoints endpoints={own} isOnly={endpoints.length === 1} />
        </Section>
      )}
      {shared.length > 0 && (
        <Section title="Shared apps">
          <Endpoints endpoints={shared} isOnly={endpoints.length === 1} />
        </Section>
      )}
    </Page>
  );
}

/**
 * Draws a list of inbound paths. Each line opens to show the path's settings. `isOnly`: true if the page has only one path; its line is
 * then open at first.
 */
function Endpoints({ endpoints, isOnly }: { endpoints: readonly IngestEndpoint[]; isOnly: boolean }) {
  return (
    <ul>
      {endpoints.map((endpoint) => (
        <li key={endpoint.path}>
          <Disclosure
            initiallyOpen={isOnly}
            summary={
              <>
                <b>{endpoint.toolkitSlug}</b>
                <State word={endpoint.fault === "" ? set : endpoint.secretSet ? notReady : unset(endpoint.secretEnv)} />
                {endpoint.secretSet && (
                  <span>
                    {endpoint.lastEventAt === undefined ? (
                      "no post yet"
                    ) : (
                      <>
                        last post <Time at={endpoint.lastEventAt} />
                      </>
                    )}
                  </span>
                )}
              </>
            }
          >
            <Endpoint endpoint={endpoint} />
          </Disclosure>
        </li>
      ))}
    </ul>
  );
}

function Endpoint({ endpoint }: { endpoint: IngestEndpoint }) {
  const { toolkitSlug, path, scheme, secretEnv, secretSet, fault, projectId, methods, verifierJson } = endpoint;
  const isPrivate = projectId !== "";
  const curl = curlOf(endpoint, serviceBase);
  return (
    <Stack>
      <p>This command posts a signed sample{isPrivate && ", with the secret from the terminal"}:</p>
      <CodeBlock
        text={`npx svc trigger ${isPrivate ? `FOLDER/${toolkitSlug} --private` : toolkitSlug} --url ${serviceBase}`}
      />
      <SendSample toolkitSlug={toolkitSlug} />
      {fault !== "" && secretSet && <Notice tone="warn" title={`Every request is refused: ${fault}.`} />}
      <Facts
        facts={[
          ["Address", <Copyable key="address" text={`${serviceBase}${path}`} what="address" />],
          ["Verified by", <code key="scheme">{scheme}</code>],
          ["Methods", methods.join(", ")],
          ["Secret", isPrivate ? "in the vault" : <code key="secret">{secretEnv}</code>],
          [
            "Quarantine",
            !isPrivate ? undefined : (
              <Link
                key="quarantine"
                to="/p/$projectId/quarantine"
                params={{ projectId }}
                search={{ toolkit: toolkitSlug }}
              >
                View quarantined posts
              </Link>
            ),
          ],
        ]}
      />
      {isPrivate && <WebhookSecrets endpoint={endpoint} />}
      {!isPrivate && !secretSet && (
        <>
          <p>Start the service with the secret that the app signs with, in this variable:</p>
          <CodeBlock text={`export ${secretEnv}=…`} />
        </>
      )}
      <Disclosure flat summary="How a post is verified">
        <CodeBlock text={prettyJson(verifierJson)} what="verifier" />
      </Disclosure>
      {curl !== "" && (
        <Disclosure flat summary="The same post with curl">
          <Stack tight>
            <p>
              Run this in a shell where {isPrivate ? "SECRET" : "that variable"} is set. However often you run it, it
              makes one event.
            </p>
            <CodeBlock text={curl} />
          </Stack>
        </Disclosure>
      )}
    </Stack>
  );
}
