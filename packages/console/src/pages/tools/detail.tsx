import { useQuery } from "@connectrpc/connect-query";
import { parseExactJson } from "@svc/core/exact-json";
import type { Tool } from "@svc/gen/catalog";
import { ToolsService } from "@svc/gen/tools";
import { getRouteApi, Link } from "@tanstack/react-router";
import { readSchema } from "../../form/read-schema.ts";
import { valuesOf, withoutSecrets } from "../../form/value.ts";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { classWord } from "../../words/calls.ts";
import { scopeWords } from "../../words/text.ts";
import type { ToolPageSearch } from "./filters.ts";
import { type KeptInput, keptInput } from "./try/kept-input.ts";
import { TryIt } from "./try/try-it.tsx";

const route = getRouteApi("/p/$projectId/tools/$toolSlug");

/** Draws the page of one tool: its description, and the form that tries the tool. */
export default function ToolPage() {
  const { projectId, toolSlug } = route.useParams();
  const described = useQuery(ToolsService.method.describeTool, { slug: toolSlug });
  const tool = described.data?.tool;
  return (
    <Page
      title={toolSlug}
      state={tool !== undefined && <State word={classWord(tool.accessClass)} />}
      back={
        <Link to="/p/$projectId/tools" params={{ projectId }}>
          Tools
        </Link>
      }
    >
      <FaultNotice error={described.error} onRetry={() => void described.refetch()} />
      {described.isPending && <Skeleton />}
      {tool !== undefined && <ToolBody projectId={projectId} tool={tool} />}
    </Page>
  );
}

function ToolBody({ projectId, tool }: { projectId: string; tool: Tool }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (to: ToolPageSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  return (
    <Stack>
      <p>{tool.description}</p>
      {tool.replacedBy === "" ? null : (
        <Notice tone="info" title="Deprecated by the app">
          Use {tool.replacedBy} instead.
        </Notice>
      )}
      <ToolFacts projectId={projectId} tool={tool} />
      {tool.callable ? (
        <TryFrom
          key={`${tool.slug} ${search.from ?? ""}`}
          projectId={projectId}
          tool={tool}
          search={search}
          onChange={change}
        />
      ) : (
        <Notice tone="info" title="Can't be called">
          {tool.uncallableReason}
        </Notice>
      )}
      <Section title="Schemas">
        <Disclosure summary="Arguments">
          <JsonView text={tool.inputSchemaJson} label="schema of the arguments" />
        </Disclosure>
        <Disclosure summary="Result">
          <JsonView text={tool.outputSchemaJson} label="schema of the result" />
        </Disclosure>
      </Section>
    </Stack>
  );
}

/** Draws the facts of a tool, except its description. */
function ToolFacts({ projectId, tool }: { projectId: string; tool: Tool }) {
  const { slug, toolkitSlug, requiredScopes, ownerProjectId } = tool;
  return (
    <Facts
      facts={[
        [
          "App",
          <Link key="toolkit" to="/p/$projectId/toolkits/$toolkitSlug" params={{ projectId, toolkitSlug }}>
            {toolkitSlug}
          </Link>,
        ],
        [
          "Scopes",
          requiredScopes.length === 0 ? (
            "No special permissions"
          ) : (
            <Line key="scopes">
              {requiredScopes.map((scope) => (
                <code key={scope}>{scopeWords(scope)}</code>
              ))}
            </Line>
          ),
        ],
        ["Owner", ownerProjectId === "" ? undefined : "this project"],
        [
          "Calls",
          <Link key="calls" to="/p/$projectId/calls" params={{ projectId }} search={{ tool: slug }}>
            View its calls
          </Link>,
        ],
      ]}
    />
  );
}

/**
 * Draws the section "Try it". Its form starts with the arguments of a stored call if the address names one. Otherwise it starts with the
 * user's last input.
 */
function TryFrom({
  projectId,
  tool,
  search,
  onChange,
}: {
  projectId: string;
  tool: Tool;
  search: ToolPageSearch;
  onChange: (to: ToolPageSearch) => void;
}) {
  const { from = "" } = search;
  const earlier = useQuery(ToolsService.method.getToolCall, { id: from }, { enabled: from !== "" });
  const shape = readSchema(tool.inputSchemaJson, tool.accessClass === "destructive" ? ["confirm"] : []);
  if (from !== "" && earlier.isPending) return <Skeleton rows={12} />;
  const call = earlier.data?.call;
  // The input of the stored call. Masked values are left out, because they are not real arguments; the user must enter them again.
  const ofCall: KeptInput | undefined = call && {
    entity: call.entityId,
    values: withoutSecrets(shape, valuesOf(readJson(call.argumentsJson))),
  };
  return (
    <>
      <FaultNotice error={earlier.error} />
      <TryIt
        projectId={projectId}
        tool={tool}
        shape={shape}
        initial={ofCall ?? keptInput(projectId, tool.slug)}
        search={search}
        onChange={onChange}
      />
    </>
  );
}

function readJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    // The stored call has no arguments any more, or they cannot be read. The form then starts empty.
    return {};
  }
}
