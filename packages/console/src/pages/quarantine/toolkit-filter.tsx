import type { QuarantinedPost } from "@svc/gen/admin";
import { anyOf, Choice } from "../../ui/choice.tsx";

/** Chooses the toolkit: of those that the loaded posts were posted to. */
export function ToolkitFilter({
  posts,
  value,
  onChange,
}: {
  posts: readonly QuarantinedPost[];
  value: string | undefined;
  onChange: (value: string) => void;
}) {
  const slugs = [...new Set([...(value === undefined ? [] : [value]), ...posts.map(({ toolkitSlug }) => toolkitSlug)])];
  return <Choice label="Toolkit" value={value ?? ""} options={anyOf(slugs.toSorted())} onChange={onChange} />;
}
