package api

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis/export"
)

// csvFormat is the format of lists for spreadsheets; others are JSON.
const csvFormat = "csv"

// sendList answers with a list in the format that the query asks for: the view as JSON, or its rows as CSV, a column
// for each field that is a value, and a link to the next page in the header. name is the file's, without its extension.
func sendList[R any](c echo.Context, view any, rows []R, name, next string) error {
	format, err := oneOf(c, "format", jsonFormat, csvFormat)
	if err != nil {
		return err
	}
	header := c.Response().Header()
	if next != "" {
		header.Set("Link", fmt.Sprintf("<%s>; rel=\"next\"", next))
	}
	if format != csvFormat {
		return fresh(c, http.StatusOK, view)
	}
	header.Set("Cache-Control", "no-store")
	header.Set(echo.HeaderContentType, "text/csv; charset=utf-8")
	header.Set(echo.HeaderContentDisposition,
		mime.FormatMediaType("attachment", map[string]string{"filename": fileName(name) + ".csv"}))
	c.Response().WriteHeader(http.StatusOK)
	w := csv.NewWriter(c.Response())
	_ = w.Write(columnsOf(reflect.TypeFor[R](), "")) // the error stays in the writer
	for i := range rows {
		_ = w.Write(cellsOf(nil, reflect.ValueOf(&rows[i]).Elem()))
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return fmt.Errorf("api: write list: %w", err)
	}
	return nil
}

var timeType = reflect.TypeFor[time.Time]()

// fieldsOf are the fields of a row's type that JSON shows, with their names there; those that have no name are spread.
func fieldsOf(t reflect.Type) (fields []reflect.StructField, names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "-" && (f.IsExported() || f.Anonymous) {
			fields, names = append(fields, f), append(names, name)
		}
	}
	return fields, names
}

// columnsOf names the columns of a row's type: fields of fields by both names with "_" between.
func columnsOf(t reflect.Type, prefix string) (columns []string) {
	fields, names := fieldsOf(t)
	for i, f := range fields {
		name := prefix + names[i]
		if nested := structOf(f.Type); nested != nil {
			if names[i] != "" {
				name += "_"
			}
			columns = append(columns, columnsOf(nested, name)...)
			continue
		}
		columns = append(columns, name)
	}
	return columns
}

// structOf is the type of a field that is spread over columns; nil for one that is a column.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == timeType {
		return nil
	}
	return t
}

// cellsOf appends the cells of a row, in the order of columnsOf.
func cellsOf(cells []string, row reflect.Value) []string {
	fields, _ := fieldsOf(row.Type())
	for _, f := range fields {
		v := row.FieldByIndex(f.Index)
		nested := structOf(f.Type)
		switch {
		case nested == nil:
			cells = append(cells, cell(v))
		case v.Kind() == reflect.Pointer && v.IsNil():
			cells = append(cells, make([]string, len(columnsOf(nested, "")))...)
		default:
			cells = cellsOf(cells, reflect.Indirect(v))
		}
	}
	return cells
}

// cell writes a value: numbers as they are, texts so that no spreadsheet runs them, several of them with blanks
// between.
func cell(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch value := v.Interface().(type) {
	case time.Time:
		return value.UTC().Format(time.RFC3339)
	case json.RawMessage:
		return export.CSVCell(string(value))
	case []string:
		return export.CSVCell(strings.Join(value, " "))
	}
	switch v.Kind() {
	case reflect.String:
		return export.CSVCell(v.String())
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	case reflect.Int, reflect.Int64, reflect.Int32:
		return strconv.FormatInt(v.Int(), 10)
	default:
		text, err := json.Marshal(v.Interface())
		if err != nil {
			return ""
		}
		return export.CSVCell(string(text))
	}
}
