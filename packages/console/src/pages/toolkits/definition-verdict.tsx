import { Code, ConnectError } from "@connectrpc/connect";
import { callUnaryMethod, createConnectQueryKey, useTransport } from "@connectrpc/connect-query";
import { CatalogService, type PublishToolkitResponse } from "@svc/gen/catalog";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { failureOf, type WireFault } from "../../calls/fault.ts";
import { Section } from "../../ui/layout/section.tsx";
import { FaultList } from "../../ui/notice/fault-list.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import type { PlacedFault } from "../../words/placed-faults.ts";
import { useToolkits } from "../tools/catalog.ts";

/**
 * The result of the service's check of a toolkit's definition. `published`: the toolkit (one app's tools) that would be published.
 * `faults`: all errors of the definition.
 */
type DefinitionVerdict = { published?: PublishToolkitResponse; faults: readonly WireFault[] };

/**
 * Sends a toolkit's definition (the tools of one app) to the service for a check (a dry run of its publication) and returns the result.
 * Errors of the definition are part of the result. The last result stays until the next one arrives. `enabled` is false if the user may not
 * publish.
 */
export function useDefinitionCheck(definitionJson: string, enabled: boolean) {
  const transport = useTransport();
  const { publishToolkit } = CatalogService.method;
  const input = { definitionJson, dryRun: true };
  return useQuery({
    queryKey: createConnectQueryKey({ schema: publishToolkit, transport, input, cardinality: "finite" }),
    queryFn: async ({ signal }): Promise<DefinitionVerdict> => {
      try {
        return { published: await callUnaryMethod(transport, publishToolkit, input, { signal }), faults: [] };
      } catch (error) {
        const faults = failureOf(error).faults.filter(({ reason }) => reason === "DEFINITION_INVALID");
        if (ConnectError.from(error).code !== Code.InvalidArgument || faults.length === 0) throw error;
        return { faults };
      }
    },
    placeholderData: keepPreviousData,
    staleTime: 0,
    enabled,
  });
}

/** Maximum number of errors in a definition that the service returns. */
const faultsMax = 100;

/**
 * Shows the service's check of a toolkit's definition (the tools of one app): every error with its line, or the toolkit that would be
 * published and the version that it would replace.
 */
export function DefinitionVerdictView({
  projectId,
  verdict,
  faults,
  isCurrent,
  onGoTo,
}: {
  projectId: string;
  verdict: DefinitionVerdict;
  faults: readonly PlacedFault[];
  /** True if the check is about the text that the editor shows now. */
  isCurrent: boolean;
  onGoTo: (offset: number) => void;
}) {
  if (faults.length === 0) {
    return verdict.published === undefined ? null : <Publishable projectId={projectId} published={verdict.published} />;
  }
  const count = faults.length < faultsMax ? faults.length : `The first ${faultsMax}`;
  return (
    <Section title={`${count} ${faults.length === 1 ? "problem" : "problems"}${isCurrent ? "" : ", checking"}`}>
      <FaultList faults={faults} onGoTo={onGoTo} />
    </Section>
  );
}

function Publishable({ projectId, published }: { projectId: string; published: PublishToolkitResponse }) {
  const { toolkit, toolSlugs } = published;
  const before = useToolkits(projectId).find(({ slug }) => slug === toolkit?.slug);
  if (toolkit === undefined) return null;
  return (
    <>
      <Notice tone={before === undefined ? "ok" : "warn"} title="Ready to publish">
        {before?.ownerProjectId === "" && <p>It replaces the shared app {before.slug} in this project.</p>}
        {before !== undefined && before.ownerProjectId !== "" && (
          <p>
            It replaces version {before.version} of this project. Accounts stay connected, unless their credentials
            would go to another server.
          </p>
        )}
      </Notice>
      <Section title="Will be published">
        <Facts
          facts={[
            ["Slug", <code key="slug">{toolkit.slug}</code>],
            ["Version", toolkit.version],
            ["Tools", toolSlugs.join(", ")],
          ]}
        />
      </Section>
    </>
  );
}
