import { type ComponentType, startTransition, use, useEffect, useState } from "react";
import { PartFailed } from "./notice/part-failed.tsx";

/** A component whose file is loaded later. `load`: loads the file before the component is drawn. It never rejects. */
type LaterPart<Props> = ComponentType<Props> & { readonly load: () => Promise<void> };

/**
 * Returns a component whose file the browser loads when the component is first drawn. The `Suspense` around it shows its fallback until
 * then. If the file cannot be loaded, `Failed` is drawn, which can load it again. The rest of the page stays as it is.
 */
export function laterPart<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
  Failed: ComponentType<Props & { readonly onRetry: () => void }> = PartFailed,
): LaterPart<Props> {
  type Loading = Promise<ComponentType<Props> | undefined>;
  let last: Loading | undefined;
  const read = (): Loading => {
    last ??= load().then(
      (file) => file.default,
      () => undefined,
    );
    return last;
  };
  // A failed attempt is kept while its message is shown. Otherwise drawing the message would load the file again, without end.
  const forget = (loading: Loading) => {
    if (last === loading) last = undefined;
  };
  function Part(props: Props) {
    const [loading, setLoading] = useState(read);
    const Loaded = use(loading);
    const isLost = Loaded === undefined;
    useEffect(() => (isLost ? () => forget(loading) : undefined), [isLost, loading]);
    if (Loaded !== undefined) return <Loaded {...props} />;
    const again = () => {
      forget(loading);
      startTransition(() => setLoading(read()));
    };
    return <Failed {...props} onRetry={again} />;
  }
  return Object.assign(Part, {
    load: async () => {
      const loading = read();
      if ((await loading) === undefined) forget(loading);
    },
  });
}
