import type { QuarantinedPost } from "@svc/gen/admin";
import { Choice } from "../../ui/choice.tsx";

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
  return (
    <Choice
      label="Toolkit"
      value={value ?? ""}
      options={[{ value: "", words: "any" }, ...slugs.toSorted().map((slug) => ({ value: slug, words: slug }))]}
      onChange={onChange}
    />
  );
}
