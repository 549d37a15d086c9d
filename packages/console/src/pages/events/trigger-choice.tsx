import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, ToolKind, ToolView } from "@svc/gen/catalog";
import { TriggersService } from "@svc/gen/triggers";
import { useParams } from "@tanstack/react-router";
import { anyOption, Choice } from "../../ui/fields/choice.tsx";

/**
 * Returns the slugs (names in the API) of the toolkits whose events a project can receive. They are the apps that have an inbound path,
 * `events` for events that the project publishes itself, and `svc` for operational events of svc.
 */
export function useEventToolkits(): readonly string[] {
  const { projectId = "" } = useParams({ strict: false });
  const ingest = useQuery(TriggersService.method.listIngestEndpoints, { projectId }, { staleTime: 60_000 });
  const posted = ingest.data?.endpoints.map(({ toolkitSlug }) => toolkitSlug) ?? [];
  return [...new Set([...posted, "events", "svc"])];
}

/**
 * Returns the slugs of the triggers (event types) of a toolkit (one app). Without a toolkit, returns no slugs, or those of all toolkits if
 * `isEvery` is set. At most 1,000 slugs are returned.
 */
export function useTriggerSlugs(toolkitSlug: string, { isEvery = false } = {}): readonly string[] {
  const { projectId = "" } = useParams({ strict: false });
  const request = { projectId, toolkitSlug, kind: ToolKind.TRIGGER, view: ToolView.SUMMARY };
  const tools = useQuery(CatalogService.method.listTools, request, { enabled: isEvery || toolkitSlug !== "" });
  return tools.data?.tools.map(({ slug }) => slug) ?? [];
}

/** Draws a field to choose one of the triggers (event types) of an app. */
export function TriggerChoice({
  toolkit,
  trigger,
  onChange,
}: {
  toolkit: string;
  trigger: string | undefined;
  onChange: (trigger: string | undefined) => void;
}) {
  const options = useTriggerSlugs(toolkit).map((slug) => ({ value: slug, words: slug.slice(toolkit.length + 1) }));
  return (
    <Choice
      label="Trigger"
      value={trigger ?? ""}
      options={[anyOption, ...options]}
      onChange={(slug) => onChange(slug === "" ? undefined : slug)}
    />
  );
}
