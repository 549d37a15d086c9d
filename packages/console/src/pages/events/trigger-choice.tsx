import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, ToolKind } from "@svc/gen/catalog";
import { anyOption, Choice } from "../../ui/fields/choice.tsx";

/** Draws a field to choose one of a toolkit's triggers. */
export function TriggerChoice({
  toolkit,
  trigger,
  onChange,
}: {
  toolkit: string;
  trigger: string | undefined;
  onChange: (trigger: string | undefined) => void;
}) {
  const tools = useQuery(
    CatalogService.method.listTools,
    { toolkitSlug: toolkit, kind: ToolKind.TRIGGER },
    { staleTime: Number.POSITIVE_INFINITY },
  );
  const options = tools.data?.tools.map(({ slug }) => ({ value: slug, words: slug.slice(toolkit.length + 1) })) ?? [];
  return (
    <Choice
      label="Trigger"
      value={trigger ?? ""}
      options={[anyOption, ...options]}
      onChange={(slug) => onChange(slug === "" ? undefined : slug)}
    />
  );
}
