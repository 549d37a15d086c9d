CREATE TABLE "grant_clients" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"redirect_uris" text[] NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "grant_codes" (
	"digest" "bytea" PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"voucher_key_id" uuid NOT NULL,
	"client_id" text NOT NULL,
	"client_name" text NOT NULL,
	"redirect_uri" text NOT NULL,
	"challenge" text NOT NULL,
	"resource" text NOT NULL,
	"entity_id" text NOT NULL,
	"access_classes" text[] NOT NULL,
	"toolkit_slugs" text[] NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"spent_at" timestamp (3) with time zone,
	"grant_id" uuid
);
--> statement-breakpoint
CREATE TABLE "grant_tokens" (
	"digest" "bytea" PRIMARY KEY NOT NULL,
	"grant_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"spent_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "grants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"key_id" uuid NOT NULL,
	"voucher_key_id" uuid NOT NULL,
	"client_id" text NOT NULL,
	"client_name" text NOT NULL,
	"client_origin" text NOT NULL,
	"resource" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "grant_codes" ADD CONSTRAINT "grant_codes_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grant_codes" ADD CONSTRAINT "grant_codes_voucher_key_id_api_keys_id_fk" FOREIGN KEY ("voucher_key_id") REFERENCES "public"."api_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grant_tokens" ADD CONSTRAINT "grant_tokens_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_voucher_key_id_api_keys_id_fk" FOREIGN KEY ("voucher_key_id") REFERENCES "public"."api_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "grant_clients_used" ON "grant_clients" USING btree ("used_at","created_at");--> statement-breakpoint
CREATE INDEX "grant_codes_expires" ON "grant_codes" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "grant_tokens_expires" ON "grant_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "grant_tokens_grant" ON "grant_tokens" USING btree ("grant_id");--> statement-breakpoint
CREATE UNIQUE INDEX "grants_project" ON "grants" USING btree ("project_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "grants_key" ON "grants" USING btree ("key_id");