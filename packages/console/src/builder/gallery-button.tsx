import { useQuery } from "@tanstack/react-query";
import { type ReactNode, Suspense, useState } from "react";
import { Button } from "../ui/buttons/button.tsx";
import { laterPart } from "../ui/later-part.tsx";
import { Skeleton } from "../ui/notice/empty.tsx";
import { PartFailed } from "../ui/notice/part-failed.tsx";
import type { Example } from "./examples.ts";

const Gallery = laterPart(() => import("./gallery.tsx"));

/** Draws the button that opens the gallery of example programs. The browser loads the examples when the button is first pressed. */
export function GalleryButton({ kind, onUse }: { kind: "schedules" | "programs"; onUse: (example: Example) => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon="skill" onPress={() => setOpen(true)}>
        Examples
      </Button>
      {isOpen && (
        <Suspense>
          <Gallery
            kind={kind}
            onClose={() => setOpen(false)}
            onUse={(example) => {
              setOpen(false);
              onUse(example);
            }}
          />
        </Suspense>
      )}
    </>
  );
}

/**
 * Returns the example with this name, or null if no name is given or the name is unknown. Until the example is loaded, returns `waiting` to
 * draw in its place: a skeleton, or a message that the examples could not be loaded.
 */
export function useExample(
  name: string | undefined,
): { example: { text: string; isSchedule: boolean } | null } | { waiting: ReactNode } {
  const loaded = useQuery({
    queryKey: ["examples"],
    queryFn: async () => (await import("./examples.ts")).examples,
    enabled: name !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (name === undefined) return { example: null };
  if (loaded.data !== undefined) return { example: loaded.data.find((one) => one.name === name) ?? null };
  return { waiting: loaded.isError ? <PartFailed onRetry={() => void loaded.refetch()} /> : <Skeleton /> };
}
