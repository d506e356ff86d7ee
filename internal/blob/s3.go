package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	// uploadPart is the size of the parts in which a blob goes up, and what a Put holds of it in memory, in bytes.
	// S3 takes 10,000 parts: blobs of 156 GiB. Left unset, minio-go plans for 5 TiB and buffers 512 MiB.
	uploadPart = 16 << 20
	// copyPart is how much one request copies inside S3, in bytes. minio-go waits a minute for an answer, and a
	// server that really copies needs the time; Amazon takes at most 5 GiB.
	copyPart = 1 << 30
	// copyThreads is how many parts of a blob are copied at once.
	copyThreads = 4
	// fetchAttempts is how often a part of a blob is asked for while the answers break off.
	fetchAttempts = 4

	defaultEndpoint = "s3.amazonaws.com"
)

// s3 keeps blobs as objects of a bucket.
type s3 struct {
	client   *minio.Core
	bucket   string
	prefix   string // of all keys; empty or ending in "/"
	copyPart int64
}

// openS3 connects to the bucket that the URL names.
func openS3(ctx context.Context, u *url.URL) (Store, error) {
	query := u.Query()
	for name := range query {
		if !slices.Contains([]string{"endpoint", "insecure", "region"}, name) {
			return nil, fmt.Errorf("blob: s3 URL has the parameter %q; known are endpoint, insecure and region", name)
		}
	}
	if u.User != nil {
		return nil, errors.New("blob: s3 URL holds a user or password; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead")
	}
	insecure := query.Get("insecure")
	if insecure != "" && insecure != "0" && insecure != "1" {
		return nil, fmt.Errorf("blob: s3 URL has insecure=%s; write insecure=1 for plain HTTP, or nothing", insecure)
	}
	s := &s3{bucket: u.Host, copyPart: copyPart}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		if err := checkKey(prefix); err != nil {
			return nil, fmt.Errorf("prefix in the s3 URL: %w", err)
		}
		s.prefix = prefix + "/"
	}
	if s.bucket == "" {
		return nil, errors.New("blob: s3 URL names no bucket; write s3://bucket/prefix")
	}
	if os.Getenv("AWS_ACCESS_KEY_ID") == "" || os.Getenv("AWS_SECRET_ACCESS_KEY") == "" {
		return nil, fmt.Errorf("blob: bucket %s: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", s.bucket)
	}
	endpoint := query.Get("endpoint")
	if endpoint == "" {
		endpoint = defaultEndpoint
	}
	var err error
	s.client, err = minio.NewCore(endpoint, &minio.Options{
		Creds:  credentials.NewEnvAWS(),
		Secure: insecure != "1",
		Region: query.Get("region"),
	})
	if err != nil {
		return nil, fmt.Errorf("blob: endpoint %s in the s3 URL: %w; write endpoint=host:port", endpoint, err)
	}
	if err := s.makeBucket(ctx, query.Get("region")); err != nil {
		return nil, fmt.Errorf("blob: bucket %s at %s: %w", s.bucket, endpoint, err)
	}
	return s, nil
}

// makeBucket makes the bucket unless it is there. Several processes may start together.
func (s *s3) makeBucket(ctx context.Context, region string) error {
	there, err := s.client.BucketExists(ctx, s.bucket)
	if err != nil || there {
		return err //nolint:wrapcheck // the caller says where
	}
	err = s.client.MakeBucket(ctx, s.bucket, minio.MakeBucketOptions{Region: region})
	if err == nil {
		return nil
	}
	if there, again := s.client.BucketExists(ctx, s.bucket); again == nil && there {
		return nil // another was faster
	}
	return fmt.Errorf("does not exist and cannot be made: %w", err)
}

func (s *s3) Put(ctx context.Context, key string, r io.Reader) (int64, error) {
	if err := checkKey(key); err != nil {
		return 0, err
	}
	r = &source{ctx, r}
	options := minio.PutObjectOptions{PartSize: uploadPart}
	// What fits into one part goes up in one request instead of three, and minio-go can try it again.
	head, err := io.ReadAll(io.LimitReader(r, uploadPart))
	if err != nil {
		return 0, s.fail(ctx, "put", key, err)
	}
	body, size := io.Reader(bytes.NewReader(head)), int64(len(head))
	if size == uploadPart {
		body, size = io.MultiReader(body, r), -1
	}
	info, err := s.client.Client.PutObject(ctx, s.bucket, s.prefix+key, body, size, options)
	if err != nil {
		return 0, s.fail(ctx, "put", key, err)
	}
	return info.Size, nil
}

func (s *s3) Stat(ctx context.Context, key string) (Info, error) {
	if err := checkKey(key); err != nil {
		return Info{}, err
	}
	info, err := s.stat(ctx, "stat", key)
	if err != nil {
		return Info{}, err
	}
	return Info{Key: key, Size: info.Size, Modified: info.LastModified}, nil
}

func (s *s3) stat(ctx context.Context, doing, key string) (minio.ObjectInfo, error) {
	info, err := s.client.StatObject(ctx, s.bucket, s.prefix+key, minio.StatObjectOptions{})
	if err != nil {
		return info, s.fail(ctx, doing, key, err)
	}
	return info, nil
}

// Rename copies inside S3 and deletes the original.
func (s *s3) Rename(ctx context.Context, from, to string) error {
	if err := errors.Join(checkKey(from), checkKey(to)); err != nil {
		return err
	}
	info, err := s.stat(ctx, "rename", from)
	if err != nil || from == to {
		return err
	}
	source := minio.CopySrcOptions{Bucket: s.bucket, Object: s.prefix + from, MatchETag: info.ETag}
	target := minio.CopyDestOptions{Bucket: s.bucket, Object: s.prefix + to, PartSize: uint64(s.copyPart),
		NumThreads: copyThreads}
	if info.Size <= s.copyPart {
		_, err = s.client.Client.CopyObject(ctx, target, source)
	} else {
		_, err = s.client.ComposeObject(ctx, target, source)
	}
	if err != nil {
		return s.fail(ctx, "rename to "+to, from, err)
	}
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	return s.Delete(cleanup, from)
}

func (s *s3) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	err := s.client.RemoveObject(ctx, s.bucket, s.prefix+key, minio.RemoveObjectOptions{})
	if err != nil {
		err = s.fail(ctx, "delete", key, err)
	}
	if errors.Is(err, ErrNotFound) { // Amazon never says so, others do
		return nil
	}
	return err
}

func (s *s3) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Info{}, err)
			return
		}
		listing, stop := context.WithCancel(ctx) // minio-go asks for it where the caller breaks off
		defer stop()
		for o := range s.client.ListObjectsIter(listing, s.bucket,
			minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true}) {
			if o.Err != nil {
				yield(Info{}, s.fail(ctx, "list", prefix, o.Err))
				return
			}
			key := strings.TrimPrefix(o.Key, s.prefix)
			if checkKey(key) != nil {
				continue // not ours: a console's "folder", say
			}
			if !yield(Info{Key: key, Size: o.Size, Modified: o.LastModified}, nil) {
				return
			}
		}
		if ctx.Err() != nil { // minio-go just ends then
			yield(Info{}, s.fail(ctx, "list", prefix, ctx.Err()))
		}
	}
}

func (s *s3) Open(ctx context.Context, key string) (Reader, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	info, err := s.stat(ctx, "open", key)
	if err != nil {
		return nil, err
	}
	fetch := func(ctx context.Context, p []byte, off int64) error {
		if err := s.fetch(ctx, key, info.ETag, p, off); err != nil {
			return s.fail(ctx, "read", key, err)
		}
		return nil
	}
	return newBlockReader(ctx, info.Size, fetch), nil
}

// fetch fills p with what lies at off. minio-go repeats requests that fail; here is taken care of those whose answer
// breaks off: a dump of some GB takes thousands, over hours.
func (s *s3) fetch(ctx context.Context, key, etag string, p []byte, off int64) error {
	var err error
	for range fetchAttempts {
		var n int
		if n, err = s.fetchOnce(ctx, key, etag, p, off); err == nil || ctx.Err() != nil ||
			errors.As(err, new(minio.ErrorResponse)) {
			return err
		}
		p, off = p[n:], off+int64(n)
	}
	// Not wrapped: to those who read files an io.ErrUnexpectedEOF says that the file ends early.
	return fmt.Errorf("asked %d times: %v", fetchAttempts, err) //nolint:errorlint // see above
}

func (s *s3) fetchOnce(ctx context.Context, key, etag string, p []byte, off int64) (int, error) {
	var options minio.GetObjectOptions
	err := errors.Join(options.SetMatchETag(etag), options.SetRange(off, off+int64(len(p))-1))
	if err != nil {
		return 0, err //nolint:wrapcheck // the caller says where
	}
	body, _, header, err := s.client.GetObject(ctx, s.bucket, s.prefix+key, options)
	if err != nil {
		return 0, err //nolint:wrapcheck // the caller says where
	}
	defer func() { _ = body.Close() }()
	if off > 0 && header.Get("Content-Range") == "" {
		return 0, errors.New("the server, or a proxy before it, ignores Range and sends the start of the blob")
	}
	return io.ReadFull(body, p) //nolint:wrapcheck // the caller says where
}

// fail says what could not be done to which blob.
func (s *s3) fail(ctx context.Context, doing, key string, err error) error {
	var response minio.ErrorResponse
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.As(err, &response) && response.Code == minio.NoSuchKey:
		err = ErrNotFound
	case response.Code == minio.PreconditionFailed:
		err = errors.New("it was replaced meanwhile; open it again")
	}
	return fmt.Errorf("blob: %s %s: %w", doing, key, err)
}
