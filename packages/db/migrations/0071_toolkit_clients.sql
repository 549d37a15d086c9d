CREATE TABLE "toolkit_clients" (
	"project_id" uuid NOT NULL,
	"slug" text NOT NULL,
	"issuer" text NOT NULL,
	"token_url" text NOT NULL,
	"client_id" text NOT NULL,
	"client_secret" "bytea",
	"secret_place" text,
	"registration" text NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "toolkit_clients_key" PRIMARY KEY("project_id","slug")
);
--> statement-breakpoint
ALTER TABLE "connected_accounts" ADD COLUMN "extra_scopes" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "toolkit_clients" ADD CONSTRAINT "toolkit_clients_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;