import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Button } from "../ui/buttons/button.tsx";
import { FaultNotice } from "../ui/notice/fault.tsx";
import type { Example } from "./examples.ts";

const Gallery = lazy(() =>
  import("./gallery.tsx").catch((cause: unknown) => ({ default: () => <FaultNotice error={cause} /> })),
);

/** Draws the button that opens the examples. The examples are loaded when it is first pressed. */
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

/** Returns the example with this name. Undefined while it is loaded; null if there is no such example, or no name. */
export function useExample(name: string | undefined): { text: string; isSchedule: boolean } | null | undefined {
  const loaded = useQuery({
    queryKey: ["examples"],
    queryFn: async () => (await import("./examples.ts")).examples,
    enabled: name !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (name === undefined || loaded.isError) return null;
  return loaded.data === undefined ? undefined : (loaded.data.find((one) => one.name === name) ?? null);
}
