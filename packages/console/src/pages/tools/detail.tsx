import { useQuery } from "@connectrpc/connect-query";
import type { Tool } from "@svc/gen/catalog";
import { ToolsService } from "@svc/gen/tools";
import { getRouteApi, Link } from "@tanstack/react-router";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { State } from "../../ui/values/state.tsx";
import { classWord } from "../../words/calls.ts";
import type { ToolSearch } from "./filters.ts";
import { ToolFacts } from "./tool-facts.tsx";
import { TryFrom } from "./try/try-from.tsx";

const route = getRouteApi("/p/$projectId/tools/$toolSlug");

/** One tool: what it does, and the way to try it. */
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
  const change = (to: ToolSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  return (
    <Stack>
      <p>{tool.description}</p>
      {tool.replacedBy === "" ? null : (
        <Notice tone="info" title="The app has deprecated it">
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
        <Notice tone="info" title="It cannot be called">
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
